package udp

import (
	"context"
	"errors"
)

// makeWay ends the nginx that serves, and closes what the next does not need of its
// sockets. What comes to the others meanwhile waits for the next. If that one does not
// start, the one before is found dead, and is started again.
func (s *Supervisor) makeWay(ctx context.Context, p *plan) error {
	if s.current != nil {
		s.end(ctx, []*instance{s.current})
	}
	wanted := map[address]bool{}
	for _, port := range p.ports {
		for _, a := range p.addresses(port) {
			wanted[a] = true
		}
	}
	var err error
	for _, g := range s.groups {
		if g.chosen != nil && (!wanted[g.address] || len(g.chosen.files) != p.workers) {
			g.chosen = nil
			err = errors.Join(err, s.trim(g))
		}
	}
	return err
}
