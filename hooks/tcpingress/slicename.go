package tcpingress

import (
	"fmt"
	"hash/fnv"
)

// pages is the number of TCPIngressSlices that a class may have.
const pages = 64

// page gives the two hex digits of the slice that holds the verdict on a
// TCPIngress, from the hash of its "namespace/name".
func page(ingress string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(ingress)) // never fails, see hash.Hash
	return fmt.Sprintf("%02x", h.Sum32()%pages)
}

// sliceName gives the name of a class's slice.
func sliceName(class, page string) string { return class + "-" + page }
