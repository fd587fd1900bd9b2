package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

const (
	// chunk is how much is read at a time, and the longest line there may be.
	chunk = 256 << 10
	// quietPolls is how often nothing new must be found in a log that nginx has left.
	quietPolls = 2
	// reopenPause is the time until nginx is asked again to leave a log.
	reopenPause = 5 * time.Second
)

// Log reads the access log into a Book.
type Log struct {
	Book *Book
	// Path of the access log. The one that is rotated away has ".1" appended, and the
	// position and counters are in the file with ".state" appended.
	Path string
	// Size is from where on the log is rotated.
	Size int64
	// SaveInterval is how often the position is saved.
	SaveInterval time.Duration
	// Reopen makes nginx open its logs by their names.
	Reopen func() error
	// InUse tells whether a process of nginx has the file open. It may be nil.
	InUse func(os.FileInfo) (bool, error)

	file     *os.File
	id       fileID
	offset   int64
	resumed  *saved
	rotated  bool // file is the one that was rotated away
	quiet    int
	reopened time.Time
	changed  bool
	savedAt  time.Time
}

func (l *Log) rotatedPath() string { return l.Path + ".1" }
func (l *Log) statePath() string   { return l.Path + ".state" }

// Resume takes up what was saved. Counters that cannot be read are begun anew, from
// the end of the log: better some sessions less than all of them twice.
func (l *Log) Resume() error {
	state, err := load(l.statePath())
	if err != nil {
		if info, statErr := os.Stat(l.Path); statErr == nil {
			state = &saved{File: identify(info), Offset: info.Size()}
		} else {
			state = &saved{}
		}
	}
	l.Book.restore(state)
	l.resumed = state
	return err
}

// Step reads what is new, rotates if it is time, and saves.
func (l *Log) Step(now time.Time) error {
	if err := l.open(); err != nil || l.file == nil {
		return err
	}
	added, err := l.read(now)
	if err != nil {
		return err
	}
	if l.rotated {
		err = l.finish(added, now)
	} else if l.offset >= l.Size {
		err = l.rotate(now)
	}
	if err != nil {
		return err
	}
	if l.changed && now.Sub(l.savedAt) >= l.SaveInterval {
		return l.save(now)
	}
	return nil
}

// Close reads and saves a last time.
func (l *Log) Close(now time.Time) error {
	if err := l.open(); err != nil || l.file == nil {
		return err
	}
	_, err := l.read(now)
	if l.changed {
		err = errors.Join(err, l.save(now))
	}
	return errors.Join(err, l.file.Close())
}

// open opens the log that was rotated away if there is one, since it is the older.
func (l *Log) open() error {
	if l.file != nil {
		return nil
	}
	file, err := os.Open(l.rotatedPath())
	l.rotated = err == nil
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.Open(l.Path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nginx has not started yet
	}
	if err != nil {
		return fmt.Errorf("opening access log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("opening access log: %w", err), file.Close())
	}
	l.file, l.id, l.offset, l.quiet = file, identify(info), 0, 0
	if l.resumed != nil && l.resumed.File == l.id && l.resumed.Offset <= info.Size() {
		l.offset = l.resumed.Offset
	}
	l.resumed = nil
	return nil
}

// read counts the lines that are whole, and gives the number of bytes.
func (l *Log) read(now time.Time) (int64, error) {
	start := l.offset
	buffer := make([]byte, chunk)
	for {
		n, err := l.file.ReadAt(buffer, l.offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return l.offset - start, fmt.Errorf("reading access log: %w", err)
		}
		whole := bytes.LastIndexByte(buffer[:n], '\n') + 1
		if whole == 0 && n == chunk {
			whole = n // no line of ours is that long
		}
		if whole == 0 {
			return l.offset - start, nil
		}
		l.Book.count(bytes.Split(bytes.TrimSuffix(buffer[:whole], []byte("\n")), []byte("\n")), now)
		l.offset += int64(whole)
		l.changed = true
	}
}

// rotate makes nginx begin a new log. The old one is read on until it leaves it.
func (l *Log) rotate(now time.Time) error {
	if err := os.Rename(l.Path, l.rotatedPath()); err != nil {
		return fmt.Errorf("rotating access log: %w", err)
	}
	l.rotated, l.quiet = true, 0
	return l.reopen(now)
}

func (l *Log) reopen(now time.Time) error {
	l.reopened = now
	if err := l.Reopen(); err != nil {
		return fmt.Errorf("rotating access log: %w", err)
	}
	return nil
}

// finish removes the log that was rotated away once nginx has left it.
func (l *Log) finish(added int64, now time.Time) error {
	if added > 0 {
		l.quiet = 0
	} else {
		l.quiet++
	}
	left, err := l.left()
	if err != nil {
		return err
	}
	if !left {
		l.quiet = 0
		if now.Sub(l.reopened) >= reopenPause {
			return l.reopen(now)
		}
		return nil
	}
	if l.quiet < quietPolls {
		return nil
	}
	// What is saved must not lack these lines when they are gone.
	if err := l.save(now); err != nil {
		return err
	}
	if err := os.Remove(l.rotatedPath()); err != nil {
		return fmt.Errorf("removing access log: %w", err)
	}
	err = l.file.Close()
	l.file, l.rotated = nil, false
	if err != nil {
		return fmt.Errorf("closing access log: %w", err)
	}
	return nil
}

// left tells whether nginx has left the log that was rotated away: it has a new one,
// and no process holds the old one.
func (l *Log) left() (bool, error) {
	if _, err := os.Stat(l.Path); err != nil {
		return false, nil //nolint:nilerr // not there yet
	}
	if l.InUse == nil {
		return true, nil
	}
	info, err := l.file.Stat()
	if err != nil {
		return false, fmt.Errorf("looking at access log: %w", err)
	}
	used, err := l.InUse(info)
	return !used, err
}

func (l *Log) save(now time.Time) error {
	state := l.Book.saved()
	state.File, state.Offset = l.id, l.offset
	if err := state.save(l.statePath()); err != nil {
		return err
	}
	l.changed, l.savedAt = false, now
	return nil
}
