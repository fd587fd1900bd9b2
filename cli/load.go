package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// input is what the files of -f hold.
type input struct {
	sources []source
	// ignored counts objects of kinds that nobody here reads, by "apiVersion kind".
	ignored map[string]int
	// broken are the names of classes that are there, and cannot be read.
	broken map[string]bool
}

// source is an object and where it was read.
type source struct {
	object *unstructured.Unstructured
	file   string
	lines  lines
	// prefix is that of the name that the API server will make up, if it is to.
	prefix string
}

// at gives "file:line" of a path in the object, or of the next best one above it.
func (s *source) at(path ...any) string {
	return fmt.Sprintf("%s:%d", s.file, s.lines.of(path...))
}

// loader reads files of objects.
type loader struct {
	kinds     []simulate.Kind
	stdin     io.Reader
	recursive bool
}

// load reads all files. Whatever cannot be read is in the error, each with its
// file and line, so that everything can be mended in one go. What can be read is given
// beside it.
func (l *loader) load(names []string) (*input, error) {
	in := &input{ignored: map[string]int{}, broken: map[string]bool{}}
	var errs []error
	for _, name := range names {
		files, err := l.expand(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, file := range files {
			errs = append(errs, l.loadFile(in, file))
		}
	}
	in.nameGenerated()
	slices.SortFunc(in.sources, func(a, b source) int {
		return cmp.Compare(simulate.Describe(a.object), simulate.Describe(b.object))
	})
	errs = append(errs, in.checkTwice())
	return in, errors.Join(errs...)
}

// nameGenerated gives a name to each object that is to get one from the API server. They
// are named in the order in which they are read; their line tells which is which.
func (in *input) nameGenerated() {
	for i := range in.sources {
		if s := &in.sources[i]; s.prefix != "" {
			s.object.SetName(fmt.Sprintf("%s%05d", s.prefix, i))
		}
	}
}

// expand gives the files of a folder, as kubectl does: those that end in .yaml,
// .yml or .json, without kustomizations, which are no objects.
func (l *loader) expand(name string) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	var files []string
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != name && !l.recursive:
			return filepath.SkipDir
		case !entry.IsDir() && isManifest(entry.Name()):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

func isManifest(name string) bool {
	extension := filepath.Ext(name)
	base := name[:len(name)-len(extension)]
	return slices.Contains([]string{".yaml", ".yml", ".json"}, extension) && base != "kustomization"
}

func (l *loader) loadFile(in *input, name string) error {
	var text []byte
	var err error
	if name == "-" {
		name = "<stdin>"
		text, err = io.ReadAll(l.stdin)
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	var errs []error
	for _, document := range splitDocuments(text) {
		errs = append(errs, l.loadDocument(in, name, document))
	}
	return errors.Join(errs...)
}

// checkNamed refuses objects whose names only an API server can make up.
func (in *input) checkNamed() error {
	var errs []error
	for i := range in.sources {
		if s := &in.sources[i]; s.prefix != "" {
			errs = append(errs, fmt.Errorf("%s: the %s has no metadata.name; what is made for it cannot be shown", s.at("metadata"), s.object.GetKind()))
		}
	}
	return errors.Join(errs...)
}

// checkTwice refuses an object that is declared twice: which one counts would
// depend on the order of the files.
func (in *input) checkTwice() error {
	var errs []error
	once := in.sources[:0]
	for i := range in.sources {
		now := &in.sources[i]
		if n := len(once); n > 0 && simulate.Describe(once[n-1].object) == simulate.Describe(now.object) {
			errs = append(errs, fmt.Errorf("%s: %s is declared at %s already", now.at(), simulate.Describe(now.object), once[n-1].at()))
			continue
		}
		once = append(once, *now)
	}
	in.sources = once
	return errors.Join(errs...)
}

// find gives the source of an object, or nil where it was not read.
func (in *input) find(object *unstructured.Unstructured) *source {
	i, found := slices.BinarySearchFunc(in.sources, simulate.Describe(object), func(s source, name string) int {
		return cmp.Compare(simulate.Describe(s.object), name)
	})
	if !found {
		return nil
	}
	return &in.sources[i]
}
