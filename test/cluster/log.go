package cluster

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// tailBytes is how much of the end of a log is looked at.
const tailBytes = 256 << 10

// tail returns the last n lines of a file; a file that cannot be read has none.
func tail(path string, n int) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = file.Seek(-tailBytes, io.SeekEnd)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return lines[max(0, len(lines)-n):]
}

// LogDir is the folder of the logs, one <process>.log each.
func (c *Cluster) LogDir() string {
	if c.options.LogDir != "" {
		return c.options.LogDir
	}
	return c.path("logs")
}

// Logs returns the last n lines of every log in LogDir, with a heading that says whether the process still runs: what a test prints when it failed,
// before Stop. A test may put logs of its own there, named *.log.
func (c *Cluster) Logs(n int) string {
	c.mu.Lock()
	state := map[string]string{}
	for _, p := range c.processes {
		state[p.name] = "running"
		if !p.running() {
			state[p.name] = fmt.Sprintf("ended: %v", p.err)
		}
	}
	c.mu.Unlock()

	var out strings.Builder
	paths, _ := filepath.Glob(filepath.Join(c.LogDir(), "*.log"))
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".log")
		fmt.Fprintf(&out, "==> %s", path)
		if s := state[name]; s != "" {
			fmt.Fprintf(&out, " (%s)", s)
		}
		fmt.Fprintf(&out, "\n%s\n", strings.Join(tail(path, n), "\n"))
	}
	return out.String()
}
