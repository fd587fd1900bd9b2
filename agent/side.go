package agent

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nginx-stream/tcpingress/agent/sessions"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// side is one of the two nginx, with what is known of it. Neither waits for the other:
// what one refuses does not keep the other from its next generation.
type side struct {
	keeper *keeper
	status statusBox
	// stepped is when the keeper ended a step, in nanoseconds since 1970.
	stepped atomic.Int64
}

func newSide(o Options, protocol l4.Protocol, book *sessions.Book, live *liveKeys) *side {
	s := &side{}
	s.keeper = newKeeper(o, protocol, &s.status, func(serves *servers) { book.Live(live.replace(protocol, serves.limits), time.Now()) })
	return s
}

func (s *side) step(ctx context.Context) error {
	defer func() { s.stepped.Store(time.Now().UnixNano()) }()
	return s.keeper.step(ctx)
}

// liveKeys holds whose sessions there may be, of both sides.
type liveKeys struct {
	mu   sync.Mutex
	keys map[l4.Protocol]map[sessions.Key]sessions.Limits
}

// replace gives those of both sides, after one of them changed.
func (l *liveKeys) replace(protocol l4.Protocol, keys map[sessions.Key]sessions.Limits) map[sessions.Key]sessions.Limits {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys == nil {
		l.keys = map[l4.Protocol]map[sessions.Key]sessions.Limits{}
	}
	l.keys[protocol] = keys
	all := maps.Clone(keys)
	for other, theirs := range l.keys {
		if other != protocol {
			maps.Copy(all, theirs)
		}
	}
	return all
}
