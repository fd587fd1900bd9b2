package server

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

func TestMetrics(t *testing.T) {
	url := start(t, Options{Build: Build{Version: "v1.2.3", Revision: "abc"}}, okHook(),
		hook("/bad/sync", func() (any, error) { return nil, &metacontroller.BadRequest{Problem: "no"} }))
	for range 3 {
		do(t, "POST", url+"/ok/sync", "application/json", request)
	}
	do(t, "POST", url+"/bad/sync", "application/json", request)
	do(t, "POST", url+"/ok/sync", "text/plain", request)
	do(t, "POST", url+"/unknown-paths-get-no-label", "application/json", request)

	got := do(t, "GET", url+"/metrics", "", "")
	require.Equal(t, 200, got.code)
	for _, want := range []string{
		`tcpingress_hook_requests_total{code="200",hook="/ok/sync"} 3`,
		`tcpingress_hook_requests_total{code="415",hook="/ok/sync"} 1`,
		`tcpingress_hook_requests_total{code="400",hook="/bad/sync"} 1`,
		`tcpingress_hook_duration_seconds_count{code="200",hook="/ok/sync"} 3`,
		`tcpingress_hook_request_bytes_sum{hook="/ok/sync"} 270`,
		`tcpingress_hook_request_bytes_count{hook="/ok/sync"} 3`,
		`tcpingress_hook_requests_in_flight 0`,
		`tcpingress_build_info{goversion="` + runtime.Version() + `",revision="abc",version="v1.2.3"} 1`,
		`go_goroutines `,
		`process_resident_memory_bytes `,
	} {
		assert.Contains(t, got.body, want)
	}
	assert.NotContains(t, got.body, "unknown-paths")
}
