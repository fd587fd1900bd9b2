// Package harness brings up all that an e2e test needs: a real control plane, the
// hooks as real processes behind a door that can misbehave, and an applier, which
// is the real Metacontroller or what plays its part. Nothing enters but the
// environment; clients leave. It asserts nothing, and knows no test.
package harness
