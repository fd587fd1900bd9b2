package agent

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/agent/sessions"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// servers is what a generation serves, read back from its files.
type servers struct {
	headers []bundle.Header
	// limits has each key whose sessions there may be.
	limits map[sessions.Key]sessions.Limits
}

// readServers reads files by name. Of directives it reads only those that tell the
// causes of failures apart, and which nginx does not log.
func readServers(files map[string]string) *servers {
	s := &servers{limits: map[sessions.Key]sessions.Limits{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		s.readFile(files[name])
	}
	return s
}

func (s *servers) readFile(text string) {
	var current []sessions.Key // those of the server that is read
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if h, ok := bundle.ParseHeader(line); ok {
			s.headers = append(s.headers, h)
			current = append(current, keyOf(&h))
			s.declare(keyOf(&h))
			if h.Host != "" {
				// Clients that ask for a host that nobody has.
				unknown := sessions.Key{Listener: h.Listener()}
				s.declare(unknown)
				current = append(current, unknown)
			}
			continue
		}
		if line == "}" {
			current = nil
		}
		name, value, isDirective := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ";"), " ")
		if !isDirective {
			continue
		}
		switch name {
		case "set":
			// A server behind that of a shared port belongs to one rule alone.
			current = s.narrow(current, value)
		case "proxy_connect_timeout":
			s.limit(current, value, func(l *sessions.Limits, d time.Duration) { l.Connect = d })
		case "preread_timeout":
			s.limit(current, value, func(l *sessions.Limits, d time.Duration) { l.Preread = d })
		}
	}
}

func (s *servers) declare(key sessions.Key) {
	if _, known := s.limits[key]; !known {
		s.limits[key] = sessions.Limits{}
	}
}

// narrow follows "set $listener 8443/TCP" and "set $owner a/b/c".
func (s *servers) narrow(keys []sessions.Key, value string) []sessions.Key {
	variable, text, _ := strings.Cut(value, " ")
	switch {
	case variable == "$listener" && len(keys) == 0:
		return []sessions.Key{{Listener: text}}
	case variable == "$owner" && len(keys) == 1:
		return []sessions.Key{{Listener: keys[0].Listener, Owner: text}}
	}
	return keys
}

func (s *servers) limit(keys []sessions.Key, value string, set func(*sessions.Limits, time.Duration)) {
	d, err := time.ParseDuration(value)
	if err != nil {
		return
	}
	for _, key := range keys {
		if limits, known := s.limits[key]; known {
			set(&limits, d)
			s.limits[key] = limits
		}
	}
}

func keyOf(h *bundle.Header) sessions.Key {
	return sessions.Key{Listener: h.Listener(), Owner: h.Owner}
}
