package nginx

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Member is a process of a process group.
type Member struct {
	PID, Group int
	// Title is its command line: each argument ends with a zero byte, unless the process
	// has given itself another title.
	Title string
}

// IsWorker tells whether the title is that of a worker of nginx.
func IsWorker(title string) bool { return strings.HasPrefix(title, workerTitle) }

// All lists every process that is no zombie.
func All(proc string) ([]Member, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, fmt.Errorf("reading processes: %w", err)
	}
	var all []Member
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if group, ok := groupOf(proc, pid); ok {
			all = append(all, Member{PID: pid, Group: group, Title: Processes{Proc: proc}.title(pid)})
		}
	}
	return all, nil
}

// InGroup tells whether a process group has a process that is no zombie.
func InGroup(proc string, group int) (bool, error) {
	all, err := All(proc)
	return slices.ContainsFunc(all, func(m Member) bool { return m.Group == group }), err
}

// groupOf is the process group of a process that has not ended.
func groupOf(proc string, pid int) (int, bool) {
	text, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, false // it has ended
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const state, groupField = 0, 2
	if len(fields) <= groupField || fields[state] == "Z" || fields[state] == "X" {
		return 0, false
	}
	group, err := strconv.Atoi(fields[groupField])
	return group, err == nil
}
