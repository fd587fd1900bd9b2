package sessions

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Book has the counters. It may be read while it is written.
type Book struct {
	mu       sync.Mutex
	counters map[Key]*Counter
	live     map[Key]Limits
	broken   uint64
}

// Live says whose sessions there may be, with the limits that tell causes apart.
// Each has a counter from then on, and only those that it names keep theirs.
func (b *Book) Live(keys map[Key]Limits, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.live {
		if c := b.counters[key]; c != nil {
			c.Used = now
		}
	}
	b.live = maps.Clone(keys)
	for key := range keys {
		b.counter(key).Used = now
	}
}

func (b *Book) counter(key Key) *Counter {
	c := b.counters[key]
	if c == nil {
		if b.counters == nil {
			b.counters = map[Key]*Counter{}
		}
		c = &Counter{}
		b.counters[key] = c
	}
	return c
}

// count counts lines.
func (b *Book) count(lines [][]byte, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range lines {
		var s bundle.Session
		if err := json.Unmarshal(line, &s); err != nil {
			b.broken++
			continue
		}
		if s.Listener == "" {
			continue // no rule's server, such as the one that names the generation
		}
		key := Key{Listener: strings.Clone(s.Listener), Owner: strings.Clone(s.Owner)}
		c := b.counter(key)
		c.Add(&s, CauseOf(&s, b.live[key]))
		c.Used = now
	}
}

// Prune forgets those that are not live and were not used since. As long as nobody
// has said what is live, any of them may be.
func (b *Book) Prune(since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.live == nil {
		return
	}
	maps.DeleteFunc(b.counters, func(key Key, c *Counter) bool {
		_, live := b.live[key]
		return !live && c.Used.Before(since)
	})
}

// Each calls for a copy of each counter.
func (b *Book) Each(f func(Key, Counter)) {
	b.mu.Lock()
	keys := slices.Collect(maps.Keys(b.counters))
	b.mu.Unlock()
	for _, key := range keys {
		b.mu.Lock()
		c := b.counters[key]
		var copied Counter
		if c != nil {
			copied = *c
		}
		b.mu.Unlock()
		if c != nil {
			f(key, copied)
		}
	}
}

// Broken is the number of lines that were none.
func (b *Book) Broken() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.broken
}

func (b *Book) saved() *saved {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &saved{Broken: b.broken, Counters: make([]savedCounter, 0, len(b.counters))}
	for key, c := range b.counters {
		if c.Sessions > 0 {
			s.Counters = append(s.Counters, savedCounter{Listener: key.Listener, Owner: key.Owner, Counter: *c})
		}
	}
	return s
}

func (b *Book) restore(s *saved) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = s.Broken
	b.counters = make(map[Key]*Counter, len(s.Counters))
	for i := range s.Counters {
		c := s.Counters[i].Counter
		b.counters[Key{Listener: s.Counters[i].Listener, Owner: s.Counters[i].Owner}] = &c
	}
}
