package resolve

import "github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"

// The bounds of port numbers.
const (
	minPort int32 = 1
	maxPort int32 = 65535
)

// slots is the number of all slots.
const slots = 2 * (int(maxPort) + 1)

// slot is one port of one protocol in a single number, so that tables of all
// ports are plain slices. Slots sort by number, then protocol, as the book does.
type slot int32

func slotOf(p l4.Protocol, port int32) slot {
	if p == l4.UDP {
		return slot(port)<<1 | 1
	}
	return slot(port) << 1
}

func (s slot) port() int32 { return int32(s >> 1) }

func (s slot) protocol() l4.Protocol {
	if s&1 == 1 {
		return l4.UDP
	}
	return l4.TCP
}

func (s slot) key(host string) l4.Key {
	return l4.Key{Protocol: s.protocol(), Port: s.port(), Host: host}
}

// hostSlot is one host on one port.
type hostSlot struct {
	slot slot
	host string
}

// slotSet is a set of slots.
type slotSet []uint64

func newSlotSet() slotSet { return make(slotSet, slots/64) }

func (s slotSet) add(x slot)      { s[x/64] |= 1 << (x % 64) }
func (s slotSet) has(x slot) bool { return s[x/64]&(1<<(x%64)) != 0 }

// isPort tells whether n can be the number of a port.
func isPort(n int32) bool { return n >= minPort && n <= maxPort }

// A page holds the values of neighbouring slots.
const pageSize = 512

// table holds a value for every slot. Pages without values are not kept, since
// most classes use few ports.
type table[T any] struct {
	pages [slots / pageSize]*[pageSize]T
}

func (t *table[T]) at(s slot) T {
	if p := t.pages[s/pageSize]; p != nil {
		return p[s%pageSize]
	}
	var zero T
	return zero
}

func (t *table[T]) set(s slot, value T) {
	p := &t.pages[s/pageSize]
	if *p == nil {
		*p = new([pageSize]T)
	}
	(*p)[s%pageSize] = value
}
