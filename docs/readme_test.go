package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func TestObjectsOfTheReadmeAreOfOurTypes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)

	var kinds []string
	for block := range strings.SplitSeq(string(text), "\n\n") {
		if !strings.HasPrefix(block, "    apiVersion:") {
			continue
		}
		document := []byte(strings.ReplaceAll("\n"+block, "\n    ", "\n"))
		var meta struct{ Kind string }
		require.NoError(t, yaml.Unmarshal(document, &meta))
		kinds = append(kinds, meta.Kind)
		switch meta.Kind {
		case crdv1.KindTCPIngress:
			require.NoError(t, yaml.UnmarshalStrict(document, &crdv1.TCPIngress{}))
		case crdv1.KindTCPIngressClass:
			require.NoError(t, yaml.UnmarshalStrict(document, &crdv1.TCPIngressClass{}))
		default:
			assert.Fail(t, "unexpected kind", meta.Kind)
		}
	}
	assert.Equal(t, []string{crdv1.KindTCPIngressClass, crdv1.KindTCPIngress}, kinds)
}

func TestLinksLeadToFiles(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, file := range []string{"../README.md", "../CONTRIBUTING.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range link.FindAllStringSubmatch(string(text), -1) {
			_, err := os.Stat("../" + match[1])
			assert.NoError(t, err, "in %s", file)
		}
	}
}
