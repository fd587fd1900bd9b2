// Package simulate plays Metacontroller's and the API server's part in memory,
// for the commands render and lint and for tests. It is a simulation, written
// anew from what Metacontroller 4.17 is seen to do, not Metacontroller itself:
// what counts in the end is the run against the real one.
//
// Objects and controllers enter as JSON values, hooks as functions; the objects
// as they are once nothing changes any more leave. Addresses of load balancers,
// endpoints and everything else that other controllers would add are never
// invented. No network, no files, no clock: the time is an argument.
package simulate
