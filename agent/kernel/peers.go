package kernel

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Peers gives the other end of each UDP socket that is connected, by the inode of the
// socket, which is what /proc/<pid>/fd names it by. A machine may be without IPv4 or IPv6.
func Peers(proc string) (map[uint64]netip.AddrPort, error) {
	peers := map[uint64]netip.AddrPort{}
	var broken error
	err := eachEstablished(proc, []string{"udp", "udp6"}, func(fields [][]byte) {
		peer, err := parsePeer(string(fields[remoteField]))
		if err != nil {
			broken = err
			return
		}
		inode, err := strconv.ParseUint(string(fields[inodeField]), 10, 64)
		if err != nil {
			broken = fmt.Errorf("reading table of connections: %w", err)
			return
		}
		peers[inode] = peer
	})
	if err != nil {
		return nil, err
	}
	return peers, broken
}

// parsePeer reads an address as the kernel prints it: words of 32 bits in the order of
// the machine, and a port. IPv4 in IPv6 becomes IPv4.
func parsePeer(text string) (netip.AddrPort, error) {
	wrong := fmt.Errorf("reading table of connections: %q is no address", text)
	host, port, _ := strings.Cut(text, ":")
	words, err := hex.DecodeString(host)
	if err != nil {
		return netip.AddrPort{}, wrong
	}
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, wrong
	}
	const word = 4
	if len(words)%word != 0 {
		return netip.AddrPort{}, wrong
	}
	for i := 0; i < len(words); i += word {
		// Printed as a number, the first digits are those of the highest byte.
		binary.NativeEndian.PutUint32(words[i:], binary.BigEndian.Uint32(words[i:]))
	}
	ip, ok := netip.AddrFromSlice(words)
	if !ok {
		return netip.AddrPort{}, wrong
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), nil
}
