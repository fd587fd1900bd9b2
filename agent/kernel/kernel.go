// Package kernel counts the connections that are open now. The kernel's table of TCP
// sockets enters, a number for each local port leaves.
package kernel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// established is the state as the table has it.
const established = "01"

// Connections counts established TCP connections by their local port, those of IPv4
// and IPv6 together. A machine may be without either.
func Connections(proc string) (map[uint16]int, error) {
	ports := map[uint16]int{}
	for _, name := range []string{"tcp", "tcp6"} {
		file, err := os.Open(filepath.Join(proc, "net", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("opening table of connections: %w", err)
		}
		err = errors.Join(count(file, ports), file.Close())
		if err != nil {
			return nil, fmt.Errorf("reading table of connections: %w", err)
		}
	}
	return ports, nil
}

// count reads line by line: the table of a busy machine has megabytes.
func count(r io.Reader, ports map[uint16]int) error {
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		// "  12: 0100007F:1F90 0200007F:A1B2 01 ..."
		fields := bytes.Fields(scanner.Bytes())
		const local, state = 1, 3
		if len(fields) <= state || string(fields[state]) != established {
			continue
		}
		at := bytes.LastIndexByte(fields[local], ':')
		port, err := strconv.ParseUint(string(fields[local][at+1:]), 16, 16)
		if err != nil {
			continue
		}
		ports[uint16(port)]++
	}
	return scanner.Err()
}
