package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// fileID tells a file from another of the same name. Its number is not given to
// another file as long as this one is there.
type fileID struct {
	Device uint64 `json:"dev"`
	Inode  uint64 `json:"ino"`
}

func identify(info os.FileInfo) fileID {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileID{Device: uint64(stat.Dev), Inode: stat.Ino} //nolint:unconvert,nolintlint // Dev is narrower elsewhere
	}
	return fileID{}
}

// saved is what outlives the agent. The counters are exactly those of the lines
// before the offset: that is why nothing is counted twice or lost, whenever the
// agent ends.
type saved struct {
	File     fileID         `json:"file"`
	Offset   int64          `json:"offset"`
	Broken   uint64         `json:"broken,omitempty"`
	Counters []savedCounter `json:"counters"`
}

type savedCounter struct {
	Listener string `json:"l"`
	Owner    string `json:"o"`
	Counter
}

// load gives nothing if nothing was saved.
func load(path string) (*saved, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &saved{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading counters: %w", err)
	}
	var s saved
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("decoding counters: %w", err)
	}
	return &s, nil
}

// save replaces the file as a whole.
func (s *saved) save(path string) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding counters: %w", err)
	}
	draft := path + ".unfinished"
	if err := os.WriteFile(draft, raw, 0o600); err != nil {
		return fmt.Errorf("saving counters: %w", err)
	}
	if err := os.Rename(draft, path); err != nil {
		return fmt.Errorf("saving counters: %w", err)
	}
	return nil
}
