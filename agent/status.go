package agent

import (
	"fmt"
	"sync"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Refusal is why a generation is not live.
type Refusal struct {
	Generation string
	// Reason is nginx's own line where there is one.
	Reason string
	At     time.Time
}

// Status is what the agent knows of nginx.
type Status struct {
	// Running is whether there is an nginx.
	Running bool
	// Quitting is whether nginx was asked to end.
	Quitting bool
	// Live is the generation that answers, "" for none.
	Live string
	// LiveSince is when Live first answered. If an earlier agent saw that, it is when
	// Live was written.
	LiveSince time.Time
	// PendingSince is when what is mounted was first found not to be live, zero if it is.
	PendingSince time.Time
	// Listeners are those of the generation that answered last.
	Listeners []bundle.Header
	// Refused is the newest refusal, nil once a newer generation is live.
	Refused *Refusal
	// Complaint is what nginx said since it last ran, "" if it runs or said nothing.
	Complaint string
	// Waiting tells why what is mounted cannot be used yet, "" if it can.
	Waiting string

	// Reloads, Refusals and Starts count: reloads asked for, generations refused, and
	// processes of nginx that were met.
	Reloads, Refusals, Starts int
	// OldWorkers is how many there are; EndedWorkers counts those that were ended.
	OldWorkers, EndedWorkers int
}

// Sentences tell people of it.
func (s *Status) Sentences() []string {
	var list []string
	switch {
	case s.Live != "":
		list = append(list, fmt.Sprintf("Generation %s is live since %s, with %d rules.", s.Live, s.LiveSince.UTC().Format(time.RFC3339), len(s.Listeners)))
	case s.Complaint != "":
		list = append(list, "nginx is not running. It said: "+s.Complaint)
	case !s.Running:
		list = append(list, "nginx is not running.")
	case s.Quitting:
	default:
		list = append(list, "nginx is running, and does not answer for the generation that it was given.")
	}
	if s.Quitting {
		list = append(list, "nginx was asked to end, and waits for its last sessions.")
	}
	if s.Refused != nil {
		list = append(list, fmt.Sprintf("Generation %s was refused at %s: %s", s.Refused.Generation, s.Refused.At.UTC().Format(time.RFC3339), s.Refused.Reason))
	}
	if s.Waiting != "" {
		list = append(list, s.Waiting)
	}
	return list
}

// statusBox lets the probes read while the keeper writes.
type statusBox struct {
	mu     sync.Mutex
	status Status
}

// get gives a copy. Listeners and Refused are replaced, never changed.
func (b *statusBox) get() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status
}

func (b *statusBox) change(f func(*Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.status)
}
