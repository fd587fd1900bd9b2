// Package bundledir reads the folder where the ConfigMaps of provider Nginx are
// mounted. A folder enters; a set of files that belong together leaves, or what is
// missing in it. Nothing is written here.
package bundledir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Set is files that belong together.
type Set struct {
	bundle.Index
	// Contents holds the content of each file by its name.
	Contents map[string]string
}

// IncompleteError tells that files have not arrived yet. ConfigMaps are mounted one
// after the other, so this is no fault as long as it passes.
type IncompleteError struct {
	// File is the first, by name, that does not fit.
	File string
	// Missing is whether it is not there; else its content is another.
	Missing bool
}

func (e *IncompleteError) Error() string {
	if e.Missing {
		return fmt.Sprintf("The files are incomplete: %s has not arrived yet.", e.File)
	}
	return fmt.Sprintf("The files are incomplete: %s is not the one that %s names; a newer or older one is mounted.", e.File, bundle.IndexFile)
}

// Read reads the folder. The error is an *IncompleteError while files are on their
// way.
func Read(dir string) (*Set, error) {
	raw, err := ReadIndex(dir)
	if err != nil {
		return nil, err
	}
	var set Set
	if err := json.Unmarshal(raw, &set.Index); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", bundle.IndexFile, err)
	}
	if _, ok := set.Files[bundle.MainFile]; !ok {
		return nil, fmt.Errorf("%s does not name %s", bundle.IndexFile, bundle.MainFile)
	}
	set.Contents = make(map[string]string, len(set.Files))
	for _, name := range slices.Sorted(maps.Keys(set.Files)) {
		if err := checkName(name); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &IncompleteError{File: name, Missing: true}
		}
		if err != nil {
			return nil, fmt.Errorf("reading file: %w", err)
		}
		if bundle.Sum(string(content)) != set.Files[name] {
			return nil, &IncompleteError{File: name}
		}
		set.Contents[name] = string(content)
	}
	return &set, nil
}

// ReadIndex reads the index alone, as it is: it changes whenever a file does.
func ReadIndex(dir string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(dir, bundle.IndexFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &IncompleteError{File: bundle.IndexFile, Missing: true}
	}
	if err != nil {
		return nil, fmt.Errorf("reading index: %w", err)
	}
	return raw, nil
}

// checkName lets no index lead out of the folder, nor replace what the agent adds.
func checkName(name string) error {
	switch name {
	case "", bundle.IndexFile, bundle.ModulesFile, bundle.ResolverFile, bundle.GenerationFile:
		return fmt.Errorf("%s names the file %q, which it may not", bundle.IndexFile, name)
	}
	if strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return fmt.Errorf("%s names the file %q, which it may not", bundle.IndexFile, name)
	}
	return nil
}
