// Package kernel tells which connections are open now. The kernel's tables of TCP and UDP
// sockets enter; a number for each local port, and peers, leave.
package kernel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
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
	err := eachEstablished(proc, []string{"tcp", "tcp6"}, func(fields [][]byte) {
		local := fields[localField]
		at := bytes.LastIndexByte(local, ':')
		if port, err := strconv.ParseUint(string(local[at+1:]), 16, 16); err == nil {
			ports[uint16(port)]++
		}
	})
	return ports, err
}

// Fields of a line: "12: 0100007F:1F90 0200007F:A1B2 01 ...".
const (
	localField  = 1
	remoteField = 2
	stateField  = 3
	inodeField  = 9
)

// eachEstablished calls with the fields of each line of the tables that is about a
// connection. It reads line by line: the table of a busy machine has megabytes.
func eachEstablished(proc string, tables []string, call func(fields [][]byte)) error {
	for _, name := range tables {
		file, err := os.Open(filepath.Join(proc, "net", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("opening table of connections: %w", err)
		}
		scanner := bufio.NewScanner(file)
		for scanner.Scan() {
			fields := bytes.Fields(scanner.Bytes())
			if len(fields) > inodeField && string(fields[stateField]) == established {
				call(fields)
			}
		}
		if err := errors.Join(scanner.Err(), file.Close()); err != nil {
			return fmt.Errorf("reading table of connections: %w", err)
		}
	}
	return nil
}
