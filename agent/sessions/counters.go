package sessions

import (
	"slices"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Key is whose sessions are counted together.
type Key struct {
	// Listener is "6379/TCP", Owner "namespace/name/rule", or "" where none was found.
	Listener, Owner string
}

// Buckets are the upper bounds, in seconds, of the durations.
func Buckets() [buckets]float64 { return [buckets]float64{0.1, 1, 10, 60, 600, 3600} }

const buckets = 6

// Counter is what is known of the sessions of a key.
type Counter struct {
	// Sessions that ended, among them those that failed.
	Sessions uint64 `json:"n"`
	// In went to backends, Out to clients.
	In  uint64 `json:"in,omitempty"`
	Out uint64 `json:"out,omitempty"`
	// Seconds is the sum of the durations, and Durations how many fell between two
	// bounds; those beyond the last one are in none.
	Seconds   float64         `json:"d,omitempty"`
	Durations [buckets]uint64 `json:"b"`
	// Failures has the number for each Cause.
	Failures [causes]uint64 `json:"f"`
	// Used is when it was last counted or live.
	Used time.Time `json:"u"`
}

// Add counts a session.
func (c *Counter) Add(s *bundle.Session, cause Cause) {
	c.Sessions++
	c.In += sum(s.UpstreamSent)
	c.Out += uint64(max(0, s.Sent))
	c.Seconds += s.Seconds
	bounds := Buckets()
	if at, _ := slices.BinarySearch(bounds[:], s.Seconds); at < buckets {
		c.Durations[at]++
	}
	if cause != None {
		c.Failures[cause]++
	}
}
