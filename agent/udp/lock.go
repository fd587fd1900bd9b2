package udp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// lockPatience is how long another may hold the lock: who looks whether it is held,
// holds it for a moment.
const lockPatience = 5 * time.Second

// lock writes the pid into the pid file, and keeps that locked as long as the process
// lives: a pid by itself may be somebody else's.
func lock(ctx context.Context, dir string) (*os.File, error) {
	path := filepath.Join(dir, bundle.PIDFile)
	var file *os.File
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(askPause) {
		var err error
		if file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
			return nil, fmt.Errorf("opening pid file: %w", err)
		}
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && isAt(file, path) {
			break
		}
		err = errors.Join(err, file.Close())
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, fmt.Errorf("locking %s, which another nginx-udp holds: %w", path, err)
		}
	}
	if err := errors.Join(file.Truncate(0), writeAt(file, strconv.Itoa(os.Getpid())+"\n")); err != nil {
		return nil, errors.Join(fmt.Errorf("writing pid file: %w", err), file.Close())
	}
	return file, nil
}

// isAt tells whether the file is still the one at the path: whoever held it before removes
// it when it ends.
func isAt(file *os.File, path string) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// unlock removes the file while it is still held.
func unlock(file *os.File) error {
	return errors.Join(os.Remove(file.Name()), file.Close())
}
