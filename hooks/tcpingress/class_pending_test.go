package tcpingress

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const programmedBefore = `
  status:
    listeners: {"6379/TCP": data/redis/tcp-6379}
    conditions: [{type: Programmed, status: "True", reason: Programmed, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
`

// sliceBefore is the observed page of data/redis, with what was said of generation.
func sliceBefore(generation string, live string) string {
	const ingress = "data/redis"
	return "\nslices:\n- metadata: {name: " + sliceName("nginx", page(ingress)) + ", labels: {" + crdv1.LabelClass + ": nginx, " + crdv1.LabelSlice + ": \"" + page(ingress) + "\"}}\n" +
		"  class: nginx\n  entries: {data/redis: {generation: " + generation + ", rules: {tcp-6379: {port: 6379, protocol: TCP" + live + "}}}}\n"
}

func TestVerdictsWaitForTheChildrenOfTheSameAnswer(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(programmedChildren+addressed, "data/redis:6379", "data/redis:6380")
	cases := map[string]struct {
		request string
		// wantGeneration is 0 where there is no verdict.
		wantGeneration int64
		wantLive       bool
	}{
		"a new rule is not told of before its children":          {parentClass + judgedRedis, 0, false},
		"it is if they did not come":                             {bookedClass + judgedRedis, 4, false},
		"it is if they came":                                     {bookedClass + judgedRedis + programmedChildren + addressed, 4, true},
		"an edited backend keeps the verdict on what was before": {parentClass + programmedBefore + judgedRedis + other + sliceBefore("3", ", live: true"), 3, true},
		"but not twice":                                          {bookedClass + judgedRedis + other + sliceBefore("3", ", live: true"), 4, false},
		"a claim that is no longer true is taken back at once":   {parentClass + programmedBefore + judgedRedis + other + sliceBefore("4", ", live: true"), 4, false},
		"a refusal does not wait":                                {parentClass + strings.ReplaceAll(judgedRedis, "rules: [{port: 6379,", "rules: [{port: 80,"), 4, false},
		"nor does a rule without a load balancer's address":      {parentClass + judgedRedis + programmedChildren, 4, false},
		"nor one that waits for an object of somebody else":      {parentClass + judgedRedis + "foreignMaps: [{metadata: {namespace: ingress-nginx, name: tcp-services}}]", 4, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := callClass(t, tc.request)
			data := answer.child(crdv1.KindTCPIngressSlice, sliceName("nginx", page("data/redis")))
			if tc.wantGeneration == 0 {
				assert.Empty(t, data)
				return
			}
			var slice crdv1.TCPIngressSlice
			require.NoError(t, json.Unmarshal([]byte(data), &slice))
			entry := slice.Entries["data/redis"]
			assert.Equal(t, tc.wantGeneration, entry.Generation)
			assert.Equal(t, tc.wantLive, entry.Rules["tcp-6379"].Live)
		})
	}
}
