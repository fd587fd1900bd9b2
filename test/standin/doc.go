// Package standin plays Metacontroller's part against a real API server. It is not
// Metacontroller: it exists for the tests and the demo only, so that they need no
// foreign binary, and it plays no more than our own controllers use. What counts in
// the end is the run of the same tests against the real one. Never deploy it.
//
// Manifests of CompositeControllers and DecoratorControllers enter, and the address
// at which their hooks are served; objects of the API server are watched, claimed,
// created, updated and deleted, as Metacontroller 4.17 is seen to do it. It is
// written anew; not a line is Metacontroller's.
//
// Not played, and refused at the start: finalize hooks, hook version v1, rolling
// updates. Not played: the discovery of kinds that appear later, and controllers that
// appear later.
package standin
