package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/test/crd/corpus"
)

// corpusClass is the class of the corpus's TCPIngresses, with all that they may ask for.
const corpusClass = `
apiVersion: nginx-stream.dev/v1
kind: TCPIngressClass
metadata: {name: nginx, annotations: {nginx-stream.dev/is-default-class: "true"}}
spec:
  namespace: ingress-nginx
  provider: Nginx
  ports: {pool: {from: 30000, to: 30010}}
`

// lintCase runs lint on a file of the corpus.
func lintCase(t *testing.T, c corpus.Case) (code int, said string) {
	t.Helper()
	args := []string{"tcpingress", "lint", "-f", filepath.Join("..", "test", "crd", c.Path)}
	if c.Object.GetKind() == crdv1.KindTCPIngress {
		args = append(args, "-f", "-")
	}
	var out, errs strings.Builder
	code = Run(t.Context(), args, Streams{In: strings.NewReader(corpusClass), Out: &out, Err: &errs})
	return code, out.String() + errs.String()
}

// What the API server or the hooks refuse, lint finds in the words of the hooks, and it
// finds no value wrong that they accept. Two documents are an update, which files do not show.
func TestLintOfTheCorpus(t *testing.T) {
	valid, invalid, err := corpus.Read(os.DirFS(filepath.Join("..", "test", "crd")))
	require.NoError(t, err)
	updates := 0
	for _, c := range invalid {
		if c.Old != nil {
			updates++
			continue
		}
		t.Run(c.Path, func(t *testing.T) {
			code, said := lintCase(t, c)
			assert.NotEqual(t, exitFine, code)
			assert.NotContains(t, said, crdv1.ReasonPending)
			if code == exitUsage {
				return // it cannot be read
			}
			if c.Path == "invalid/tcpingress/hosts-disagree-on-accept.yaml" {
				assert.Contains(t, said, "b: HostConflict: ") // whose rule the other is, is told too
				return
			}
			for _, line := range c.Hooks {
				assert.Contains(t, said, strings.TrimSuffix(line, "."))
			}
		})
	}
	assert.Less(t, updates, len(invalid)/5)
	for _, c := range valid {
		t.Run(c.Path, func(t *testing.T) {
			_, said := lintCase(t, c) // a class may not have room for all of it
			assert.NotContains(t, said, crdv1.ReasonInvalidRule)
			assert.NotContains(t, said, crdv1.ReasonInvalidClass)
		})
	}
}
