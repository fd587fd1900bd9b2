package service

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func TestNumberIn(t *testing.T) {
	for name, want := range map[string]int32{"tcp-1": 1, "tcp-22": 22, "tcp-65535": 65535} {
		got, ok := numberIn(l4.TCP, name)
		assert.True(t, ok, name)
		assert.Equal(t, want, got, name)
	}
	for _, name := range []string{"", "tcp-", "tcp-0", "tcp-65536", "tcp-022", "tcp-+22", "tcp--1", "tcp-2 ", "udp-22", "TCP-22", "22-tcp", "tcp-99999999999"} {
		_, ok := numberIn(l4.TCP, name)
		assert.False(t, ok, name)
	}
}

// TestSize compares what is promised with the JSON that is written.
func TestSize(t *testing.T) {
	for name, s := range map[string]Settings{
		"tcp": {Name: "a", Namespace: "b", Protocol: l4.TCP, Type: "LoadBalancer", Selector: map[string]string{"c": "d"}, Labels: map[string]string{"e": "f"}},
		"udp": {Name: "a", Namespace: "b", Protocol: l4.UDP, ExternalTrafficPolicy: "Local"},
	} {
		t.Run(name, func(t *testing.T) {
			ports := []int32{1, 22, 333, 4444, 65535}
			want := BaseSize(s)
			for _, port := range ports {
				want += Charge(s.Protocol, port)
			}
			encoded, err := json.Marshal(Render(s, ports, nil))
			require.NoError(t, err)
			assert.Equal(t, want-1, len(encoded), "the first port has no comma")
		})
	}
}

func TestAnnotationsCountTwice(t *testing.T) {
	s := Settings{Name: "a", Namespace: "b", Protocol: l4.TCP}
	before := BaseSize(s)
	s.Annotations = map[string]string{"k": "v"}
	assert.Equal(t, before+len(`,"annotations":{"k":"v"}`)+len("kv"), BaseSize(s))
}
