package udp

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// seat is sockets of one address, one for each worker of an nginx.
type seat struct {
	files []*os.File
	taken bool
}

// group is all sockets of one address. The kernel numbers them in the order in which
// they were bound, and which of them gets a packet, a program of ours says.
//
// A seat that is free is kept for the next nginx, unless it is the last: a socket that is
// closed gives its number to the last one.
type group struct {
	address
	seats []*seat
	// chosen is the seat that gets the packets, nil while nobody shall get any.
	chosen *seat
}

// take finds or makes a seat for so many workers. Until it is chosen it gets nothing.
func (g *group) take(workers int) (*seat, error) {
	// What waits for an nginx that died goes to the one that takes its place.
	if c := g.chosen; c != nil && !c.taken && len(c.files) == workers {
		c.taken = true
		return c, nil
	}
	for _, s := range g.seats {
		if s.taken || s == g.chosen || len(s.files) != workers {
			continue
		}
		for _, file := range s.files {
			if err := fresh(file); err != nil {
				return nil, err
			}
		}
		s.taken = true
		return s, nil
	}
	if len(g.seats) == 0 {
		if err := g.vacant(); err != nil {
			return nil, err
		}
	}
	s := &seat{taken: true}
	for range workers {
		file, err := g.open()
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.files = append(s.files, file)
	}
	g.seats = append(g.seats, s)
	return s, nil
}

// close closes the newest socket first, so that no other gets its number.
func (s *seat) close() error {
	var err error
	for _, file := range slices.Backward(s.files) {
		err = errors.Join(err, file.Close())
	}
	return err
}

// choose lets the seat have all packets from now on. Those before stay where they are,
// to be read by who has them.
func (g *group) choose(s *seat) error {
	first := 0
	for _, other := range g.seats {
		if other == s {
			break
		}
		first += len(other.files)
	}
	if err := attach(s.files[0], unix.SO_ATTACH_REUSEPORT_CBPF, steering(g.v6, first, len(s.files))); err != nil {
		return err
	}
	g.chosen = s
	return nil
}

// mute lets nobody have packets.
func (g *group) mute() error {
	if g.chosen == nil {
		return nil
	}
	var err error
	for _, file := range g.chosen.files {
		err = errors.Join(err, mute(file))
	}
	g.chosen = nil
	return err
}

// trim closes the last seats, as far as they are free. No other process may have their
// sockets any more.
func (g *group) trim() error {
	var err error
	for n := len(g.seats); n > 0 && !g.seats[n-1].taken && g.seats[n-1] != g.chosen; n = len(g.seats) {
		err = errors.Join(err, g.seats[n-1].close())
		g.seats = g.seats[:n-1]
	}
	return err
}

// canSteer tells why the kernel cannot lead packets, if it cannot: two nginx would get
// half of them each.
func canSteer() error {
	file, err := address{}.open() // on a port that is free
	if err != nil {
		return fmt.Errorf("opening a socket for UDP: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := attach(file, unix.SO_ATTACH_REUSEPORT_CBPF, steering(false, 0, 1)); err != nil {
		return fmt.Errorf("this kernel cannot lead packets to one of several sockets (SO_ATTACH_REUSEPORT_CBPF, Linux 4.5): %w", err)
	}
	return nil
}

// steering gives the program that picks one of count sockets, from that number on. It
// looks at the address and the port of the client, so that the packets of a session all
// have the same worker. Behind IP options or extension headers it takes something else
// for the port, which is as constant.
func steering(v6 bool, first, count int) []bpf.Instruction {
	// Offsets into the packet from the header of IP on, SKF_NET_OFF in linux/filter.h.
	const (
		net                     = 0xfff00000
		source4, source6        = net + 12, net + 20 // of IPv6, the last four bytes
		port4, port6            = net + 20, net + 40
		addressBytes, portBytes = 4, 2
	)
	source, port := uint32(source4), uint32(port4)
	if v6 {
		source, port = source6, port6
	}
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: source, Size: addressBytes},
		bpf.TAX{},
		bpf.LoadAbsolute{Off: port, Size: portBytes},
		bpf.ALUOpX{Op: bpf.ALUOpAdd},
		bpf.ALUOpConstant{Op: bpf.ALUOpMod, Val: uint32(count)},
		bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: uint32(first)},
		bpf.RetA{},
	}
}
