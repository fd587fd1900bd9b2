package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// host is what all clients ask for; where no hosts are, their words go through.
const host = "one.example.com"

// echo answers what it is sent.
func echo(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = c.Close() }()
			// Not io.Copy, which would let the kernel do it: the size of what is
			// written then depends on who is faster.
			buffer := make([]byte, 64<<10)
			for {
				n, err := c.Read(buffer)
				if err != nil {
					return
				}
				if _, err := c.Write(buffer[:n]); err != nil {
					return
				}
			}
		}()
	}
}

// work is a kind of load.
type work struct {
	name, unit string
	// per is of how many units the cost is told.
	per float64
	// clients work at the same time.
	clients int
	// most bounds the units of a slice: connections leave ports that wait.
	most int64
	// do works until done, and counts.
	do func(address string, hello []byte, done func() bool, count *atomic.Int64) error
}

func works() []work {
	return []work{
		{name: "requests", unit: "requests", per: 1, clients: 16, most: 1 << 40, do: requests},
		{name: "bytes", unit: "MiB", per: 1 << 20, clients: 4, most: 1 << 50, do: bytes},
		{name: "connections", unit: "connections", per: 1, clients: 8, most: 2000, do: connections},
	}
}

// open connects, says hello, and waits until the backend has said the same.
func open(address string, hello []byte) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return c, exchange(c, hello, make([]byte, len(hello)))
}

func exchange(c net.Conn, words, answer []byte) error {
	if _, err := c.Write(words); err != nil {
		return err
	}
	_, err := io.ReadFull(c, answer)
	return err
}

func connections(address string, hello []byte, done func() bool, count *atomic.Int64) error {
	for !done() {
		c, err := open(address, hello)
		if c != nil {
			_ = c.Close()
		}
		if err != nil {
			return err
		}
		count.Add(1)
	}
	return nil
}

func requests(address string, hello []byte, done func() bool, count *atomic.Int64) error {
	c, err := open(address, hello)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	words, answer := make([]byte, 128), make([]byte, 128)
	for !done() {
		if err := exchange(c, words, answer); err != nil {
			return err
		}
		count.Add(1)
	}
	return nil
}

func bytes(address string, hello []byte, done func() bool, count *atomic.Int64) error {
	c, err := open(address, hello)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	words, answer := make([]byte, 256<<10), make([]byte, 256<<10)
	for !done() {
		var group errgroup.Group
		group.Go(func() error { _, err := c.Write(words); return err })
		if _, err := io.ReadFull(c, answer); err != nil {
			return err
		}
		if err := group.Wait(); err != nil {
			return err
		}
		count.Add(int64(2 * len(words)))
	}
	return nil
}

// measurement is what a slice has shown.
type measurement struct {
	// rate is in units a second, cost in microseconds of the processor.
	rate, cost float64
}

func measure(ctx context.Context, p *plane, w work, slice time.Duration) (measurement, error) {
	hello, err := clientHello()
	if err != nil {
		return measurement{}, err
	}
	var count atomic.Int64
	begin := time.Now()
	before, err := p.cpu()
	if err != nil {
		return measurement{}, err
	}
	done := func() bool { return time.Since(begin) >= slice || count.Load() >= w.most || ctx.Err() != nil }
	var group errgroup.Group
	for range w.clients {
		group.Go(func() error {
			return w.do(fmt.Sprintf("127.0.0.1:%d", p.port), hello, done, &count)
		})
	}
	if err := group.Wait(); err != nil {
		return measurement{}, err
	}
	if err := ctx.Err(); err != nil {
		return measurement{}, err
	}
	took := time.Since(begin)
	time.Sleep(20 * time.Millisecond) // for the ends of connections
	after, err := p.cpu()
	if err != nil {
		return measurement{}, err
	}
	units := float64(count.Load()) / w.per
	return measurement{units / took.Seconds(), float64((after - before).Nanoseconds()) / 1000 / units}, nil
}

// clientHello gives the first words of a TLS client.
func clientHello() ([]byte, error) {
	client, server := net.Pipe()
	defer func() { _ = client.Close(); _ = server.Close() }()
	go func() {
		_ = tls.Client(client, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}).Handshake() //nolint:noctx // it ends with the pipe
	}()
	_ = server.SetReadDeadline(time.Now().Add(time.Second))
	hello := make([]byte, 16<<10)
	n, err := server.Read(hello)
	if n == 0 {
		return nil, errors.Join(errors.New("no words of a TLS client"), err)
	}
	return hello[:n], nil
}
