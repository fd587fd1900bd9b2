// Package validate tells everything that one object can tell about itself. A
// rule, a spec or a class enters; field errors leave, each with the legal way
// out. It looks at no other object, so conflicts are not its business; what the
// CRDs' CEL rules refuse, it refuses too, because admission can be bypassed.
// No clock, no I/O, no state; the order of errors depends on the input alone.
package validate
