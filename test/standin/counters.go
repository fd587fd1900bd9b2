package standin

import (
	"maps"
	"sync"
)

// counters count what was done since the start.
type counters struct {
	mu     sync.Mutex
	calls  map[string]int
	writes map[string]int
}

func (c *counters) called(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[path]++
}

func (c *counters) wrote(verb, resource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes == nil {
		c.writes = map[string]int{}
	}
	c.writes[verb+" "+resource]++
}

// HookCalls gives the number of calls so far by the path of the hook.
func (s *StandIn) HookCalls() map[string]int {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return maps.Clone(s.counters.calls)
}

// Writes gives the number of writing requests so far, also of those that the API
// server refused, by verb and resource: "update services", "update
// tcpingresses/status". Events are not counted.
func (s *StandIn) Writes() map[string]int {
	s.counters.mu.Lock()
	defer s.counters.mu.Unlock()
	return maps.Clone(s.counters.writes)
}
