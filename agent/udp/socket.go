package udp

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// address is what sockets listen on: a port of all addresses of one IP version.
type address struct {
	v6   bool
	port uint16
}

// String is as nginx writes it.
func (a address) String() string {
	host := "0.0.0.0"
	if a.v6 {
		host = "::"
	}
	return net.JoinHostPort(host, strconv.Itoa(int(a.port)))
}

// bindError is that an address cannot be had.
type bindError struct {
	address string
	errno   unix.Errno
}

// Error is in nginx's words, which people search for.
func (e *bindError) Error() string {
	return fmt.Sprintf("bind() to %s failed (%d: %s)", e.address, int(e.errno), firstUpper(e.errno.Error()))
}

func (e *bindError) Unwrap() error { return e.errno }

func firstUpper(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}

// vacant gives an error if somebody has the address already: sockets of somebody else who shares
// it (SO_REUSEPORT) would have numbers among ours.
func (a address) vacant() error {
	file, err := a.bind()
	if err != nil {
		return err
	}
	return file.Close()
}

// open opens a socket that can be one of several on the address.
func (a address) open() (*os.File, error) { return a.bind(unix.SO_REUSEADDR, unix.SO_REUSEPORT) }

// bind opens a socket on the address, with these options of sockets.
func (a address) bind(shared ...int) (*os.File, error) {
	family := unix.AF_INET
	var name unix.Sockaddr = &unix.SockaddrInet4{Port: int(a.port)}
	if a.v6 {
		family, name = unix.AF_INET6, &unix.SockaddrInet6{Port: int(a.port)}
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	// A file that is made while it blocks is left alone by Go's poller, which would wake
	// for every packet. nginx needs it not to block, and does not see to that itself
	// where it is handed a socket.
	file := os.NewFile(uintptr(fd), a.String())
	type option struct{ level, name int }
	var options []option
	for _, name := range shared {
		options = append(options, option{unix.SOL_SOCKET, name})
	}
	if a.v6 {
		options = append(options, option{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY})
	}
	for _, option := range options {
		err = errors.Join(err, os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, option.level, option.name, 1)))
	}
	err = errors.Join(err, os.NewSyscallError("fcntl", unix.SetNonblock(fd, true)))
	if err == nil {
		err = unix.Bind(fd, name)
		if errno, ok := errors.AsType[unix.Errno](err); ok {
			err = &bindError{a.String(), errno}
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// hidden is where the socket of a path is, as long as nobody shall find it.
func hidden(path string) string { return path + ".hidden" }

// openStream opens a socket whose name is the path, and hides it.
func openStream(path string) (*os.File, error) {
	for _, p := range []string{path, hidden(path)} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("removing socket: %w", err)
		}
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), path)
	err = os.NewSyscallError("fcntl", unix.SetNonblock(fd, true))
	if err == nil {
		err = os.NewSyscallError("bind", unix.Bind(fd, &unix.SockaddrUnix{Name: path}))
	}
	if err == nil {
		err = os.Rename(path, hidden(path))
	}
	if err == nil {
		const backlog = 511 // nginx's own
		err = os.NewSyscallError("listen", unix.Listen(fd, backlog))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// reveal lets the socket be found.
func reveal(path string) error {
	if err := os.Rename(hidden(path), path); err != nil {
		return fmt.Errorf("revealing socket: %w", err)
	}
	return nil
}

// descriptor gives the number of the file, which stays open as long as the file does.
func descriptor(file *os.File) int { return int(file.Fd()) }

// attach runs a program of the classic packet filter for the socket, or for all sockets
// of its address, as the option says.
func attach(file *os.File, option int, program []bpf.Instruction) error {
	raw, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("assembling packet filter: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program16 := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return os.NewSyscallError("setsockopt", unix.SetsockoptSockFprog(descriptor(file), unix.SOL_SOCKET, option, &program16))
}

// mute lets the socket receive no more, while answers can still be sent from it.
func mute(file *os.File) error {
	return attach(file, unix.SO_ATTACH_FILTER, []bpf.Instruction{bpf.RetConstant{Val: 0}})
}

// fresh undoes mute, and throws away what is left in the queue: it was for a server that
// is gone.
func fresh(file *os.File) error {
	fd := descriptor(file)
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return os.NewSyscallError("setsockopt", err)
	}
	var nothing [1]byte
	for {
		if _, _, err := unix.Recvfrom(fd, nothing[:], unix.MSG_DONTWAIT); err != nil {
			return nil //nolint:nilerr // it is empty now
		}
	}
}
