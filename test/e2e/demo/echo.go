package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// within is how long a client waits for an answer.
const within = 5 * time.Second

// backend plays a Service: it answers each line of a client with who it is and what
// it heard, over TCP and UDP on one address of 127.0.0.1.
type backend struct {
	name   string
	tcp    net.Listener
	udp    net.PacketConn
	cancel func() bool
}

// newBackend starts one, which lives until close or the end of ctx.
func newBackend(ctx context.Context, name string) (*backend, error) {
	var listen net.ListenConfig
	var last error
	for range 20 {
		tcp, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("starting backend %s: %w", name, err)
		}
		// The number that TCP got is nearly always free for UDP too.
		udp, err := listen.ListenPacket(ctx, "udp", tcp.Addr().String())
		if err == nil {
			b := &backend{name: name, tcp: tcp, udp: udp}
			b.cancel = context.AfterFunc(ctx, func() { _ = b.shut() })
			go b.acceptTCP()
			go b.answerUDP()
			return b, nil
		}
		last = errors.Join(err, tcp.Close())
	}
	return nil, fmt.Errorf("starting backend %s: %w", name, last)
}

func (b *backend) address() string { return b.tcp.Addr().String() }

func (b *backend) answer(line string) string {
	return b.name + " heard: " + strings.TrimSpace(line)
}

func (b *backend) acceptTCP() {
	for {
		conn, err := b.tcp.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(within))
			if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
				_, _ = fmt.Fprintln(conn, b.answer(line))
			}
		}()
	}
}

func (b *backend) answerUDP() {
	buffer := make([]byte, 1500)
	for {
		n, from, err := b.udp.ReadFrom(buffer)
		if err != nil {
			return
		}
		_, _ = b.udp.WriteTo([]byte(b.answer(string(buffer[:n]))+"\n"), from)
	}
}

func (b *backend) close() error {
	if !b.cancel() {
		return nil
	}
	return b.shut()
}

func (b *backend) shut() error { return errors.Join(b.tcp.Close(), b.udp.Close()) }

// send sends a line to an address and returns the line that comes back.
func send(ctx context.Context, network, address, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return "", fmt.Errorf("calling %s: %w", address, err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(within))
	if _, err := fmt.Fprintln(conn, line); err != nil {
		return "", fmt.Errorf("sending to %s: %w", address, err)
	}
	back, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("reading from %s: %w", address, err)
	}
	return strings.TrimSpace(back), nil
}
