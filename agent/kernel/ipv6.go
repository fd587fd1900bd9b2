package kernel

import (
	"errors"

	"golang.org/x/sys/unix"
)

// HasIPv6 tells whether sockets of IPv6 can be opened. They cannot where the kernel was
// started with ipv6.disable=1; where the addresses alone are disabled, they can.
func HasIPv6() bool {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return !errors.Is(err, unix.EAFNOSUPPORT)
	}
	_ = unix.Close(fd)
	return true
}
