package generation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

const (
	dirPrefix  = bundle.ConfLink + "-"
	unfinished = ".unfinished"
)

// Store keeps generations in the shared directory: each in a directory of its own,
// and a link to the one that nginx shall load.
type Store struct {
	// Dir is the shared directory.
	Dir string
}

// Path is the directory of a generation.
func (s Store) Path(name string) string { return filepath.Join(s.Dir, dirPrefix+name) }

// Main is the configuration file of a generation.
func (s Store) Main(name string) string { return filepath.Join(s.Path(name), bundle.MainFile) }

// Socket is the path of the socket that answers with the name.
func (s Store) Socket(name string) string {
	return filepath.Join(s.Dir, bundle.GenerationSocket(name))
}

// Prepare makes the directory.
func (s Store) Prepare() error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("making directory of generations: %w", err)
	}
	return nil
}

// Write writes the files. A directory of that name is either whole or not there.
func (s Store) Write(g *Generation) error {
	path := s.Path(g.Name)
	if _, err := os.Stat(path); err == nil {
		return nil // the name is made of the content
	}
	draft := path + unfinished
	if err := os.RemoveAll(draft); err != nil {
		return fmt.Errorf("removing unfinished generation: %w", err)
	}
	if err := os.Mkdir(draft, 0o755); err != nil {
		return fmt.Errorf("making directory of generation: %w", err)
	}
	for name, content := range g.Files {
		if err := os.WriteFile(filepath.Join(draft, name), []byte(content), 0o644); err != nil {
			_ = os.RemoveAll(draft) // where there is no room, it takes some
			return fmt.Errorf("writing generation: %w", err)
		}
	}
	if err := os.Rename(draft, path); err != nil {
		return fmt.Errorf("naming generation: %w", err)
	}
	return nil
}

// Link makes nginx find the generation. There is no moment without a link.
func (s Store) Link(name string) error {
	link := filepath.Join(s.Dir, bundle.ConfLink)
	draft := link + unfinished
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing unfinished link: %w", err)
	}
	if err := os.Symlink(dirPrefix+name, draft); err != nil {
		return fmt.Errorf("linking generation: %w", err)
	}
	if err := os.Rename(draft, link); err != nil {
		return fmt.Errorf("linking generation: %w", err)
	}
	return nil
}

// Linked is the name of the generation that nginx finds, "" for none.
func (s Store) Linked() string {
	target, err := os.Readlink(filepath.Join(s.Dir, bundle.ConfLink))
	if err != nil {
		return ""
	}
	name, ours := strings.CutPrefix(filepath.Base(target), dirPrefix)
	if _, err := os.Stat(s.Main(name)); !ours || err != nil {
		return ""
	}
	return name
}

// Names are those of all generations that are whole.
func (s Store) Names() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("reading shared directory: %w", err)
	}
	var names []string
	for _, entry := range entries {
		name, ours := strings.CutPrefix(entry.Name(), dirPrefix)
		if ours && entry.IsDir() && !strings.HasSuffix(name, unfinished) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Written is when the generation was written, zero if it is not there.
func (s Store) Written(name string) time.Time {
	info, err := os.Stat(s.Path(name))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Load reads a generation back.
func (s Store) Load(name string) (*Generation, error) {
	entries, err := os.ReadDir(s.Path(name))
	if err != nil {
		return nil, fmt.Errorf("reading generation: %w", err)
	}
	g := &Generation{Name: name, Files: make(map[string]string, len(entries))}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(s.Path(name), entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading generation: %w", err)
		}
		g.Files[entry.Name()] = string(content)
	}
	return g, nil
}

// Clean removes all generations but those, and what a crash left.
func (s Store) Clean(keep ...string) error {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return fmt.Errorf("reading shared directory: %w", err)
	}
	for _, entry := range entries {
		name, ours := strings.CutPrefix(entry.Name(), dirPrefix)
		if !ours || !entry.IsDir() || slices.Contains(keep, name) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.Dir, entry.Name())); err != nil {
			return fmt.Errorf("removing generation: %w", err)
		}
	}
	return nil
}
