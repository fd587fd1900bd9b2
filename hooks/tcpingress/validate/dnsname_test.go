package validate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
)

// What passes here becomes part of names that the API server checks with these.
func TestNamesAreJudgedAsTheAPIServerDoes(t *testing.T) {
	text := rapid.OneOf(
		rapid.StringMatching(`[-a-z0-9A.]{0,8}`),
		rapid.StringMatching(`[a-z0-9][-a-z0-9]{55,65}`),
		rapid.StringMatching(`([a-z0-9]{1,3}[.]){80,86}[a-z0-9]{0,3}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "s")
		assert.Equal(t, len(validation.IsDNS1123Label(s)) == 0, isLabel(s), s)
		assert.Equal(t, len(validation.IsDNS1035Label(s)) == 0, isServiceLabel(s), s)
		assert.Equal(t, len(validation.IsValidPortName(s)) == 0, isPortName(s), s)
		if isSubdomain(s) { // ours is stricter: labels have a length too
			assert.Empty(t, validation.IsDNS1123Subdomain(s), s)
		} else if len(s) <= maxLabel {
			assert.NotEmpty(t, validation.IsDNS1123Subdomain(s), s)
		}
	})
}
