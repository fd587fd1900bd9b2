package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// cost is what the hooks were called for.
type cost struct {
	calls, class int // all of them, and the syncs of classes
	bytes        float64
}

func (c cost) less(d cost) cost { return cost{c.calls - d.calls, c.class - d.class, c.bytes - d.bytes} }

// cost reads the metrics of the hook server.
func (r *round) cost(ctx context.Context) cost {
	var c cost
	for _, address := range r.h.Hooks.Addresses() {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
		if err != nil {
			continue
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), " ")
			number, err := strconv.ParseFloat(value, 64)
			switch {
			case err != nil:
			case strings.HasPrefix(name, "tcpingress_hook_requests_total{"):
				c.calls += int(number)
				if strings.Contains(name, `hook="/tcpingressclass/sync"`) {
					c.class += int(number)
				}
			case strings.HasPrefix(name, "tcpingress_hook_request_bytes_sum{"):
				c.bytes += number
			}
		}
		_ = response.Body.Close()
	}
	return c
}

// quiet waits until the hooks have not been called for two seconds.
func (r *round) quiet(ctx context.Context) error {
	last, since := r.cost(ctx), time.Now()
	return r.until(ctx, "the hooks to be left alone", func() bool {
		if now := r.cost(ctx); now.calls != last.calls {
			last, since = now, time.Now()
		}
		return time.Since(since) > 2*time.Second
	})
}

// writes counts what the applier wrote.
func (r *round) writes(since time.Time) (int, error) {
	all, err := r.h.Cluster.Writes(since)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, w := range all {
		if w.User == harness.User {
			count++
		}
	}
	return count, nil
}

// processes gives the columns of what each process took: its highest resident memory
// and its processor time since its start.
func (r *round) processes() string {
	pids := r.h.Cluster.PIDs()
	list := []int{pids["etcd"], pids["kube-apiserver"], r.h.ApplierPID()}
	list = append(list, r.h.Hooks.PIDs()...)
	var columns strings.Builder
	for _, pid := range list {
		columns.WriteString(" " + took(pid) + " |")
	}
	return columns.String()
}

// took is "-" for what runs within the bench, and where the system has no /proc.
func took(pid int) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	stat, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if pid == 0 || err != nil || err2 != nil {
		return "-"
	}
	memory := 0
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			memory, _ = strconv.Atoi(strings.Fields(value)[0])
		}
	}
	// Behind the name in parentheses: utime and stime are the 12th and 13th, in
	// hundredths of a second.
	_, rest, _ := strings.Cut(string(stat), ") ")
	ticks := 0
	if fields := strings.Fields(rest); len(fields) > 12 {
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		ticks = user + system
	}
	return fmt.Sprintf("%d MiB, %d s", memory/1024, ticks/100)
}
