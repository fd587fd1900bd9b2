package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// forward is an entry of a ConfigMap as ingress-nginx reads it, and where the demo's
// nginx listens for it.
type forward struct {
	number  int
	network string // tcp or udp
	backend string // namespace/service:port
	listen  string // address of 127.0.0.1
	to      string // address of who plays the backend
}

// forwards reads the data of a ConfigMap. The examples use no PROXY protocol, so the
// demo does not speak it.
func forwards(network string, data map[string]string) ([]forward, error) {
	value := regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+:[a-z0-9-]+$`)
	var list []forward
	for key, backend := range data {
		number, err := strconv.ParseUint(key, 10, 16)
		if err != nil || number == 0 {
			return nil, fmt.Errorf("reading the ConfigMap: %q is no port", key)
		}
		if !value.MatchString(backend) {
			return nil, fmt.Errorf("reading the ConfigMap: %q is not namespace/service:port", backend)
		}
		list = append(list, forward{number: int(number), network: network, backend: backend})
	}
	slices.SortFunc(list, func(a, b forward) int { return cmp.Compare(a.number, b.number) })
	return list, nil
}

// place finds where to listen: the number itself if it is free on 127.0.0.1 and
// everybody may use it, else any other.
func place(list []forward) error {
	for i := range list {
		f := &list[i]
		closer, err := f.hold(f.number)
		if err != nil {
			if closer, err = f.hold(0); err != nil {
				return fmt.Errorf("finding a free port for %d/%s: %w", f.number, f.network, err)
			}
		}
		defer func() { _ = closer.Close() }() // all at the end, so that no number is found twice
	}
	return nil
}

// hold listens on a number, for the moment.
func (f *forward) hold(number int) (io.Closer, error) {
	if number > 0 && number < 1024 {
		return nil, errors.New("only root may")
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(number))
	if f.network == "udp" {
		conn, err := net.ListenPacket(f.network, address)
		if err == nil {
			f.listen = conn.LocalAddr().String()
		}
		return conn, err
	}
	listener, err := net.Listen(f.network, address)
	if err == nil {
		f.listen = listener.Addr().String()
	}
	return listener, err
}

// server is the forward in nginx's words.
func (f *forward) server() string {
	if f.network == "udp" {
		return fmt.Sprintf("# %d/UDP: %s\nserver { listen %s udp; proxy_pass %s; proxy_responses 1; }\n", f.number, f.backend, f.listen, f.to)
	}
	return fmt.Sprintf("# %d/TCP: %s\nserver { listen %s; proxy_pass %s; }\n", f.number, f.backend, f.listen, f.to)
}

// nginxConfig is the whole file. One process is enough, and leaves no other behind.
func nginxConfig(module string, list []forward) string {
	var out strings.Builder
	if module != "" {
		fmt.Fprintf(&out, "load_module %q;\n", module)
	}
	out.WriteString("daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nstream {\n")
	for _, f := range list {
		out.WriteString(f.server())
	}
	out.WriteString("}\n")
	return out.String()
}
