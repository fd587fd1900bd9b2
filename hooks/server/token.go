package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// tokens are the bearer tokens that open the hooks, as digests: their comparison
// takes the same time whatever is presented, of whatever length.
type tokens struct {
	digests atomic.Pointer[[][sha256.Size]byte]
}

// load takes one token a line. Blank lines do not count, and without any token
// nobody gets in.
func (t *tokens) load(contents [][]byte) error {
	digests := [][sha256.Size]byte{}
	number := 0
	for line := range strings.Lines(string(contents[0])) {
		number++
		token := strings.TrimSpace(line)
		if token == "" {
			continue
		}
		if !isToken(token) {
			return fmt.Errorf("line %d is no token: it must be one word of printable ASCII characters", number)
		}
		digests = append(digests, sha256.Sum256([]byte(token)))
	}
	t.digests.Store(&digests)
	return nil
}

func isToken(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}

// admits tells whether the request carries a token that is known now.
func (t *tokens) admits(r *http.Request) bool {
	presented := sha256.Sum256([]byte(bearer(r)))
	found := 0
	for _, digest := range *t.digests.Load() {
		found |= subtle.ConstantTimeCompare(presented[:], digest[:])
	}
	return found == 1
}

// bearer gives the token of a request, or "", which no token is equal to.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.Trim(token, " ")
}
