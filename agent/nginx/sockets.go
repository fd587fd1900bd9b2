package nginx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// listening is the flag __SO_ACCEPTCON as /proc/net/unix has it.
const listening = "00010000"

// RemoveStaleSockets removes the sockets in a directory on which nobody listens. A
// reload that failed leaves those that it had bound, and as long as they are there
// each later one fails too. It gives their number.
func RemoveStaleSockets(proc, dir string) (int, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.sock"))
	if err != nil {
		return 0, fmt.Errorf("listing sockets: %w", err)
	}
	if len(paths) == 0 {
		return 0, nil
	}
	table, err := os.ReadFile(filepath.Join(proc, "net", "unix"))
	if err != nil {
		return 0, fmt.Errorf("reading sockets of the kernel: %w", err)
	}
	alive := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		const flags, path, all = 3, 7, 8
		if fields := strings.Fields(line); len(fields) == all && fields[flags] == listening {
			alive[fields[path]] = true
		}
	}
	removed := 0
	for _, path := range paths {
		if alive[path] {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fmt.Errorf("removing stale socket: %w", err)
		}
		removed++
	}
	return removed, nil
}
