package resolve

import (
	"strconv"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

const (
	// maxBookBytes keeps the class's status below the 1 MiB that the API server
	// takes, and leaves room for conditions and addresses.
	maxBookBytes = 900 << 10
	// maxRanges is what the CRD and the admission policy can carry.
	maxRanges = 256
)

// budget is what is left of everything that is limited.
type budget struct {
	// limit and used are the ports of each protocol's Service.
	limit, used [2]int
	// perNamespace is -1 where it is not limited.
	perNamespace int
	held         map[string]int
	// left are the bytes of each child, and whole what it had for listeners.
	left, whole map[string]int
	bookBytes   int
	ranges      int
}

// cost is what one claim would use up.
type cost struct {
	protocol  l4.Protocol
	namespace string
	// ports that the Service would get, and that the namespace would hold more.
	ports, held int
	charges     []l4.Charge
	bookBytes   int
	ranges      int
}

// excessKind tells which limit a claim would break.
type excessKind uint8

const (
	// excessNone: none.
	excessNone excessKind = iota
	// excessPorts: the ports of the Service.
	excessPorts
	// excessNamespace: the ports of the namespace.
	excessNamespace
	// excessBytes: the size of a child.
	excessBytes
	// excessBook: the size of the class's status.
	excessBook
	// excessRanges: the number of ranges in the book.
	excessRanges
)

// excess is a limit that a claim would break.
type excess struct {
	kind               excessKind
	limit, used, asked int
	child              string
}

func newBudget(r *run) budget {
	b := budget{perNamespace: -1, held: map[string]int{}, left: map[string]int{}, whole: map[string]int{}}
	for i, p := range []l4.Protocol{l4.TCP, l4.UDP} {
		b.limit[i], b.used[i] = r.dp.MaxPorts(p)
	}
	if r.spec.Ports != nil && r.spec.Ports.MaxPerNamespace != nil {
		b.perNamespace = int(*r.spec.Ports.MaxPerNamespace)
	}
	for _, c := range r.dp.Budgets() {
		b.left[c.Child], b.whole[c.Child] = c.Bytes, c.Bytes
	}
	return b
}

// costOf counts what the claim would use up now. A port that is shared by hosts
// counts once for the Service, and once for each namespace on it.
func (r *run) costOf(c *claim) cost {
	w := &c.want
	n := cost{protocol: w.Protocol, namespace: c.by.Namespace, charges: r.chargesOf(c)}
	holder := len(w.Owner.Namespace) + len(w.Owner.Name) + len(w.Owner.Rule) + 2
	switch {
	case len(w.Hosts) > 0:
		sh := r.ledger.shared[slotOf(w.Protocol, w.Port)]
		if sh == nil {
			n.ports = 1
			n.bookBytes = listenerBytes(w, "", len(HolderHosts))
		}
		if sh == nil || !sh.namespaces[c.by.Namespace] {
			n.held = 1
		}
		for _, host := range w.Hosts {
			n.bookBytes += listenerBytes(w, host, holder)
		}
	case w.Last() > w.Port:
		n.ports, n.held, n.ranges = w.Size(), w.Size(), 1
		n.bookBytes = len(`{"from":,"to":,"protocol":"","holder":""},`) +
			digits(w.Port) + digits(w.Last()) + len(w.Protocol) + holder
	default:
		n.ports, n.held = 1, 1
		n.bookBytes = listenerBytes(w, "", holder)
	}
	return n
}

// listenerBytes is the size of one entry of the book in JSON.
func listenerBytes(w *l4.Listener, host string, holder int) int {
	n := digits(w.Port) + 1 + len(w.Protocol) + holder + len(`"":"",`)
	if host != "" {
		n += 1 + len(host)
	}
	return n
}

func digits(n int32) int {
	var buf [10]byte
	return len(strconv.AppendInt(buf[:0], int64(n), 10))
}

// chargesOf asks the data plane for the bytes of the claim. While an edited
// backend waits, the larger of the two counts, so that the switch always fits.
func (r *run) chargesOf(c *claim) []l4.Charge {
	charges := r.dp.Charges(&c.want)
	if c.render == nil || c.render == &c.want {
		return charges
	}
	merged := append([]l4.Charge(nil), charges...)
	for _, now := range r.dp.Charges(c.render) {
		merged = raiseCharge(merged, now)
	}
	return merged
}

func raiseCharge(charges []l4.Charge, c l4.Charge) []l4.Charge {
	for i := range charges {
		if charges[i].Child == c.Child {
			charges[i].Bytes = max(charges[i].Bytes, c.Bytes)
			return charges
		}
	}
	return append(charges, c)
}

// excess gives the first limit that the cost would break.
func (b *budget) excess(n *cost) excess {
	i := slotOf(n.protocol, 0)
	if n.ports > 0 && b.used[i]+n.ports > b.limit[i] {
		return excess{kind: excessPorts, limit: b.limit[i], used: b.used[i], asked: n.ports}
	}
	if held := b.held[n.namespace]; n.held > 0 && b.perNamespace >= 0 && held+n.held > b.perNamespace {
		return excess{kind: excessNamespace, limit: b.perNamespace, used: held, asked: n.held}
	}
	for _, c := range n.charges {
		if left, limited := b.left[c.Child]; limited && c.Bytes > 0 && c.Bytes > left {
			whole := b.whole[c.Child]
			return excess{kind: excessBytes, limit: whole, used: whole - left, asked: c.Bytes, child: c.Child}
		}
	}
	if n.ranges > 0 && b.ranges+n.ranges > maxRanges {
		return excess{kind: excessRanges, limit: maxRanges, used: b.ranges, asked: n.ranges}
	}
	if b.bookBytes+n.bookBytes > maxBookBytes {
		return excess{kind: excessBook, limit: maxBookBytes, used: b.bookBytes, asked: n.bookBytes}
	}
	return excess{}
}

// spend takes the cost off what is left.
func (b *budget) spend(n *cost) {
	b.used[slotOf(n.protocol, 0)] += n.ports
	b.held[n.namespace] += n.held
	for _, c := range n.charges {
		if _, limited := b.left[c.Child]; limited {
			b.left[c.Child] -= c.Bytes
		}
	}
	b.ranges += n.ranges
	b.bookBytes += n.bookBytes
}

func (e *excess) reason() string {
	if e.kind == excessNamespace {
		return crdv1.ReasonNamespaceQuotaExceeded
	}
	return crdv1.ReasonCapacityExceeded
}
