package process

import (
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// DNS is a server that knows Services of the cluster "cluster.local". It answers
// NXDOMAIN for all other names.
type DNS struct {
	// Address is where it answers, "127.0.0.1:5353".
	Address string

	connection net.PacketConn
	done       chan struct{}
	mu         sync.Mutex
	services   map[string][]netip.Addr
	questions  map[string]int
	delay      time.Duration
}

// NewDNS starts a server on a free port.
func NewDNS() (*DNS, error) {
	connection, err := net.ListenPacket("udp4", "127.0.0.1:0") //nolint:noctx // it ends at once
	if err != nil {
		return nil, err
	}
	d := &DNS{
		Address: connection.LocalAddr().String(), connection: connection, done: make(chan struct{}),
		services: make(map[string][]netip.Addr), questions: make(map[string]int),
	}
	go d.serve()
	return d, nil
}

// Close ends the server.
func (d *DNS) Close() error {
	err := d.connection.Close()
	<-d.done
	return err
}

// Set gives a Service, "namespace/name", its addresses; none removes it.
func (d *DNS) Set(service string, addresses ...string) {
	namespace, name, _ := strings.Cut(service, "/")
	d.mu.Lock()
	defer d.mu.Unlock()
	full := name + "." + namespace + ".svc.cluster.local."
	delete(d.services, full)
	for _, address := range addresses {
		d.services[full] = append(d.services[full], netip.MustParseAddr(address))
	}
}

// Delay lets it take its time for each answer from now on.
func (d *DNS) Delay(delay time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.delay = delay
}

// Questions tells how often the name was asked for: "redis.data.svc.cluster.local.".
func (d *DNS) Questions(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.questions[name]
}

func (d *DNS) serve() {
	defer close(d.done)
	packet := make([]byte, 4096)
	for {
		n, client, err := d.connection.ReadFrom(packet)
		if err != nil {
			return
		}
		if answer := d.answer(packet[:n]); answer != nil {
			d.mu.Lock()
			delay := d.delay
			d.mu.Unlock()
			time.AfterFunc(delay, func() { _, _ = d.connection.WriteTo(answer, client) })
		}
	}
}

// answer gives nil for what is no question.
func (d *DNS) answer(packet []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(packet) != nil || len(m.Questions) != 1 {
		return nil
	}
	question := m.Questions[0]
	d.mu.Lock()
	defer d.mu.Unlock()
	d.questions[question.Name.String()]++
	addresses, known := d.services[strings.ToLower(question.Name.String())]
	m.Response, m.Authoritative, m.RecursionAvailable = true, true, true
	m.Additionals = nil
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, address := range addresses {
		header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class, TTL: 1}
		switch {
		case question.Type == dnsmessage.TypeA && address.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: address.As4()}})
		case question.Type == dnsmessage.TypeAAAA && address.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}})
		}
	}
	answer, err := m.Pack()
	if err != nil {
		return nil
	}
	return answer
}
