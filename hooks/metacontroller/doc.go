// Package metacontroller speaks Metacontroller's hook protocol: bodies enter,
// typed objects leave; typed responses enter, JSON leaves. It knows no kind of
// ours, no HTTP and no clock. A request that cannot be read whole is an error,
// since an answer made from half of it would delete children.
package metacontroller
