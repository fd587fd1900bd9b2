package udp

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

const (
	// nginxIdle is how long a session may be silent where a server says nothing.
	nginxIdle = 10 * time.Minute
	// longestDrain bounds how long an nginx that was followed stays for its sessions. A
	// client that waits longer for an answer has asked again, and was heard by the next.
	longestDrain = 10 * time.Minute
)

// plan is what an nginx needs to be started with a generation.
type plan struct {
	generation string
	// config is the path of its main file.
	config  string
	workers int
	ports   []uint16
	// drain is after how much silence the last of its sessions is over.
	drain time.Duration
}

// readPlan reads a generation back from its files. What the renderer wrote is all it
// has to understand; a line of another kind is nginx's business.
func readPlan(dir, generation string) (*plan, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading generation: %w", err)
	}
	p := &plan{generation: generation, config: filepath.Join(dir, bundle.MainFile), workers: 1}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading generation: %w", err)
		}
		p.read(string(text))
	}
	p.drain = min(p.drain, longestDrain)
	return p, nil
}

func (p *plan) read(text string) {
	var idle time.Duration // of the server that is read, 0 outside of one
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if h, ok := bundle.ParseHeader(line); ok && h.Protocol == l4.UDP {
			for port := h.Port; port <= max(h.Port, h.EndPort); port++ {
				p.ports = append(p.ports, uint16(port))
			}
			idle = nginxIdle
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ";"), " ")
		switch name {
		case "worker_processes":
			if n, err := strconv.Atoi(value); err == nil {
				p.workers = n
			}
		case "proxy_timeout":
			if d, err := time.ParseDuration(value); err == nil {
				idle = d
			}
		case "}":
			p.drain, idle = max(p.drain, idle), 0
		}
	}
}
