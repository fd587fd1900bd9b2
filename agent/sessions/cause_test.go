package sessions

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// The lines are what nginx 1.22.1 wrote, with the address shortened.
func TestCauseOf(t *testing.T) {
	short := Limits{Connect: 300 * time.Millisecond, Preread: 300 * time.Millisecond}
	tests := map[string]struct {
		line   string
		limits Limits
		want   Cause
	}{
		"an echo":                              {line: `{"l":"1/TCP","o":"o","s":200,"d":0.003,"out":5,"rcv":5,"ua":"a:1","us":"5","ur":"5","uc":"0.001"}`},
		"nobody said anything":                 {line: `{"l":"1/TCP","o":"o","s":200,"d":0.106,"out":0,"rcv":0,"ua":"a:1","us":"0","ur":"0","uc":"0.000"}`, limits: short},
		"idle for too long":                    {line: `{"l":"1/TCP","o":"o","s":200,"d":90.305,"out":0,"rcv":0,"ua":"a:1","us":"0","ur":"0","uc":"0.000"}`},
		"the backend refuses":                  {line: `{"l":"1/TCP","o":"o","s":502,"d":0.000,"out":0,"rcv":0,"ua":"a:1","us":"0","ur":"0","uc":"-"}`, want: Connect},
		"the backend is silent":                {line: `{"l":"1/TCP","o":"o","s":502,"d":0.300,"out":0,"rcv":0,"ua":"a:1","us":"0","ur":"0","uc":"-"}`, limits: short, want: Timeout},
		"the backend is silent, by default":    {line: `{"l":"1/TCP","o":"o","s":502,"d":60.001,"out":0,"rcv":0,"ua":"a:1","us":"0","ur":"0","uc":"-"}`, want: Timeout},
		"the backend refuses after a while":    {line: `{"l":"1/TCP","o":"o","s":502,"d":3.100,"out":0,"rcv":0,"ua":"a:1","us":"0","ur":"0","uc":"-"}`, want: Connect},
		"the backend resets":                   {line: `{"l":"1/TCP","o":"o","s":200,"d":0.092,"out":0,"rcv":5,"ua":"a:1","us":"5","ur":"0","uc":"0.001"}`},
		"the name does not exist":              {line: `{"l":"1/TCP","o":"o","s":500,"d":0.001,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":""}`, want: DNS},
		"the DNS server is silent":             {line: `{"l":"1/TCP","o":"o","s":500,"d":0.300,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":""}`, want: DNS},
		"not an allowed source":                {line: `{"l":"1/TCP","o":"o","s":403,"d":0.000,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":""}`, want: Allow},
		"too many connections":                 {line: `{"l":"1/TCP","o":"o","s":503,"d":0.000,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":""}`, want: Limit},
		"no PROXY header":                      {line: `{"l":"1/TCP","o":"","s":400,"d":0.000,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":""}`, want: BadProxyHeader},
		"a known host":                         {line: `{"l":"1/TCP","o":"o","s":200,"d":0.028,"out":517,"rcv":0,"ua":"a:1","us":"517","ur":"517","uc":"0.000","sni":"known.example.com"}`},
		"an unknown host":                      {line: `{"l":"1/TCP","o":"","s":500,"d":0.001,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":"","sni":"unknown.example.com"}`, want: SNI},
		"no TLS":                               {line: `{"l":"1/TCP","o":"","s":500,"d":0.000,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":""}`, want: SNI},
		"a known host whose name is not there": {line: `{"l":"1/TCP","o":"o","s":500,"d":0.013,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":"","sni":"a.b"}`, want: DNS},
		"half of a hello":                      {line: `{"l":"1/TCP","o":"","s":200,"d":0.300,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":""}`, limits: short, want: PrereadTimeout},
		"half of a hello, by default":          {line: `{"l":"1/TCP","o":"","s":200,"d":30.002,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":""}`, want: PrereadTimeout},
		"a health check that only connects":    {line: `{"l":"1/TCP","o":"","s":200,"d":0.053,"out":0,"rcv":0,"ua":"","us":"","ur":"","uc":""}`, limits: short},
		"a UDP answer":                         {line: `{"l":"1/UDP","o":"o","s":200,"d":0.301,"out":5,"rcv":5,"ua":"a:1","us":"5","ur":"5","uc":"0.000"}`},
		"no UDP answer":                        {line: `{"l":"1/UDP","o":"o","s":200,"d":0.300,"out":0,"rcv":5,"ua":"a:1","us":"5","ur":"0","uc":"0.000"}`, want: UDPNoAnswer},
		"a UDP name that is not there":         {line: `{"l":"1/UDP","o":"o","s":500,"d":0.001,"out":0,"rcv":5,"ua":"","us":"","ur":"","uc":""}`, want: DNS},
		"something new":                        {line: `{"l":"1/TCP","o":"o","s":504,"d":0.001,"out":0,"rcv":5,"ua":"","us":"","ur":"","uc":""}`, want: Other},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var s bundle.Session
			require.NoError(t, json.Unmarshal([]byte(tc.line), &s))
			assert.Equal(t, tc.want.String(), CauseOf(&s, tc.limits).String())
		})
	}
}

func TestSum(t *testing.T) {
	for list, want := range map[string]uint64{"": 0, "-": 0, "5": 5, "0, 517": 517, "-, 7": 7, "1, 2 : 3": 6} {
		assert.Equal(t, want, sum(list), list)
	}
}
