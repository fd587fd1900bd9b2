package server

import "net/http"

// guard keeps the hooks for those who may call them. Where both a token and a
// client certificate are asked for, both are needed.
type guard struct {
	// tokens is nil where none is asked for.
	tokens *tokens
	// certificate tells that a verified client certificate is needed.
	certificate bool
}

// check refuses a request by its header alone.
func (g *guard) check(r *http.Request) error {
	if g.certificate && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0) {
		return &problem{code: http.StatusUnauthorized, text: "this hook answers only to those who show a client certificate that the server trusts, see clientTLS of the controller's webhook"}
	}
	if g.tokens != nil && !g.tokens.admits(r) {
		return &problem{code: http.StatusUnauthorized, text: "this hook answers only to those who send a bearer token that the server knows, see authorization of the controller's webhook"}
	}
	return nil
}
