package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"
)

// maxFile bounds a file that is read again and again; certificates and tokens are
// a few kilobytes.
const maxFile = 1 << 20

// fileSet is one or more files that are used together, such as a certificate and
// its key. What was loaded last stays in use until something better can be loaded.
type fileSet struct {
	// what names the set in the log and in the metrics.
	what  string
	paths []string
	// load takes the content of the files in their order, and puts it to use. An
	// error means that it changed nothing.
	load func(contents [][]byte) error
	// tried is the fingerprint of what was given to load last, or the text of the
	// error of reading, so that one mistake is told once.
	tried string
}

// refresh loads the files if they hold something new. The kubelet replaces mounted
// files by a swap of a symbolic link, which neither the time nor the inode of the
// path shows reliably; so what counts is the content. A few kilobytes every few
// seconds cost less than being wrong about an event.
func (f *fileSet) refresh() (changed bool, err error) {
	contents, err := f.read()
	fingerprint := ""
	if err != nil {
		fingerprint = err.Error()
	} else {
		fingerprint = fingerprintOf(contents)
	}
	if fingerprint == f.tried {
		return false, nil
	}
	f.tried = fingerprint
	if err == nil {
		err = f.load(contents)
	}
	if err != nil {
		return true, fmt.Errorf("loading the %s: %w", f.what, err)
	}
	return true, nil
}

// read gives all files of one moment: it reads until two rounds are the same, so
// that a swap between two files does not pair an old one with a new one.
func (f *fileSet) read() (contents [][]byte, err error) {
	const rounds = 4
	var last string
	for range rounds {
		if contents, err = readFiles(f.paths); err != nil {
			last = ""
			continue
		}
		fingerprint := fingerprintOf(contents)
		if fingerprint == last {
			return contents, nil
		}
		last = fingerprint
	}
	if err == nil {
		err = errors.New("the files change all the time")
	}
	return nil, err
}

func readFiles(paths []string) ([][]byte, error) {
	contents := make([][]byte, len(paths))
	for i, path := range paths {
		content, err := readFile(path)
		if err != nil {
			return nil, err
		}
		contents[i] = content
	}
	return contents, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch err := errors.Join(err, file.Close()); {
	case err != nil:
		return nil, err
	case len(content) > maxFile:
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	default:
		return content, nil
	}
}

// fingerprintOf stands for the contents, so that no second copy of a key is kept.
func fingerprintOf(contents [][]byte) string {
	var all []byte
	for _, content := range contents {
		sum := sha256.Sum256(content)
		all = append(all, sum[:]...)
	}
	return string(all)
}

// reloader watches file sets.
type reloader struct {
	sets    []*fileSet
	logger  *slog.Logger
	metrics *metrics
}

// start loads everything once. Here, what cannot be loaded is an error: there is
// nothing yet that could stay in use.
func (r *reloader) start() error {
	for _, set := range r.sets {
		if _, err := set.refresh(); err != nil {
			return err
		}
		r.metrics.reloads.WithLabelValues(set.what, resultLoaded)
		r.metrics.reloads.WithLabelValues(set.what, resultKept)
		r.metrics.stale.WithLabelValues(set.what).Set(0)
	}
	return nil
}

// run refreshes every interval until the context ends.
func (r *reloader) run(ctx context.Context, interval time.Duration) {
	if len(r.sets) == 0 {
		return
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.refresh()
		}
	}
}

func (r *reloader) refresh() {
	for _, set := range r.sets {
		changed, err := set.refresh()
		switch {
		case !changed:
		case err != nil:
			r.metrics.reloads.WithLabelValues(set.what, resultKept).Inc()
			r.metrics.stale.WithLabelValues(set.what).Set(1)
			r.logger.Error("changed files cannot be used, what was loaded before stays in use",
				"what", set.what, "files", set.paths, "error", err)
		default:
			r.metrics.reloads.WithLabelValues(set.what, resultLoaded).Inc()
			r.metrics.stale.WithLabelValues(set.what).Set(0)
			r.logger.Info("changed files are in use", "what", set.what, "files", set.paths)
		}
	}
}
