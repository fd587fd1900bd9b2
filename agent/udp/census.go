package udp

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/agent/kernel"
	"github.com/nginx-stream/tcpingress/agent/nginx"
)

// census finds out which nginx still has sessions. For each, a worker has a socket that
// is connected to the backend, until the session was silent for its idle timeout.
type census struct {
	// next is when there is one at the earliest.
	next time.Time
}

// share is which part of the time may be spent on it.
const share = 20

// take notes for each nginx whether it has sessions, if it is time.
func (c *census) take(proc string, instances []*instance, now time.Time) error {
	var asked []*instance
	for _, i := range instances {
		if len(i.ports) > 0 && !now.Before(i.settled) && i.ending.IsZero() && !i.gone() {
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 || now.Before(c.next) {
		return nil
	}
	began := time.Now()
	err := countSessions(proc, asked)
	c.next = now.Add(share * time.Since(began))
	return err
}

func countSessions(proc string, instances []*instance) error {
	peers, err := kernel.Peers(proc)
	if err != nil {
		return err
	}
	all, err := nginx.All(proc)
	if err != nil {
		return err
	}
	for _, i := range instances {
		sessions := 0
		for _, member := range all {
			if member.Group != i.cmd.Process.Pid {
				continue
			}
			n, err := sessionsOf(proc, member.PID, peers, i.resolvers)
			if err != nil {
				return err
			}
			sessions += n
		}
		if sessions > 0 {
			i.silent = 0
		} else {
			i.silent++
		}
	}
	return nil
}

// sessionsOf counts the sessions of a process: its sockets that have a peer, but for the
// one that it asks each DNS server from, and keeps.
func sessionsOf(proc string, pid int, peers map[uint64]netip.AddrPort, resolvers []netip.AddrPort) (int, error) {
	dir := filepath.Join(proc, strconv.Itoa(pid), "fd")
	file, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // it has ended
	}
	if err != nil {
		return 0, fmt.Errorf("looking at the sockets of nginx: %w", err)
	}
	defer func() { _ = file.Close() }()
	names, err := file.Readdirnames(-1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("looking at the sockets of nginx: %w", err)
	}
	count := 0
	asks := make(map[netip.AddrPort]bool, len(resolvers))
	for _, r := range resolvers {
		asks[r] = true
	}
	for _, name := range names {
		target, err := os.Readlink(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was closed
		}
		if err != nil {
			return 0, fmt.Errorf("looking at the sockets of nginx: %w", err)
		}
		number, isSocket := strings.CutPrefix(target, "socket:[")
		inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
		if !isSocket || err != nil {
			continue
		}
		peer, connected := peers[inode]
		if connected && !asks[peer] {
			count++
		}
		delete(asks, peer) // the next is a session
	}
	return count, nil
}
