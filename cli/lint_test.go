package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const goodFile = `
apiVersion: nginx-stream.dev/v1
kind: TCPIngressClass
metadata: {name: nginx}
spec: {namespace: ingress-nginx}
---
apiVersion: nginx-stream.dev/v1
kind: TCPIngress
metadata: {name: redis, namespace: data}
spec:
  ingressClassName: nginx
  rules:
  - port: 6379
    backend: {service: {name: redis, port: {number: 6379}}}
`

func TestExitCodesOfFiles(t *testing.T) {
	cases := map[string]struct {
		command, text string
		want          int
	}{
		"render prints also what is refused":    {"render", strings.Replace(goodFile, "port: 6379", "port: 443", 1), 0},
		"render wants the class":                {"render", strings.Replace(goodFile, "ClassName: nginx", "ClassName: other", 1), 2},
		"lint finds nothing":                    {"lint", goodFile, 0},
		"lint finds something":                  {"lint", strings.Replace(goodFile, "port: 6379", "port: 443", 1), 1},
		"lint wants the class":                  {"lint", strings.Replace(goodFile, "ClassName: nginx", "ClassName: other", 1), 2},
		"lint cannot read":                      {"lint", goodFile + "  x: [", 2},
		"lint cannot read beside what it finds": {"lint", strings.Replace(goodFile, "port: 6379", "port: 443\n    x: 1", 1), 2},
		"render makes up no names":              {"render", strings.Replace(goodFile, "{name: redis,", "{", 1), 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			got := Run(t.Context(), []string{"tcpingress", tc.command, "-f", "-"}, Streams{In: strings.NewReader(tc.text), Out: &out, Err: &errs})
			assert.Equal(t, tc.want, got, errs.String())
			assert.Equal(t, tc.want != 0, errs.Len() > 0)
			if tc.want == exitUsage {
				assert.Empty(t, out.String())
			}
		})
	}
}
