package resolve

// ledger knows to which claim each port was given.
type ledger struct {
	// whole are the ports given as a whole, nil where the slot is free or shared.
	whole table[*claim]
	// shared are the ports given to hosts.
	shared map[slot]*sharing
}

// sharing is one port that is given to hosts.
type sharing struct {
	// accept is what all rules of the port say of proxyProtocol.accept.
	accept     bool
	hosts      map[string]*claim
	wildcards  []string
	namespaces map[string]bool
}

// obstacleKind tells why a port cannot be given.
type obstacleKind uint8

const (
	// obstacleNone: it can.
	obstacleNone obstacleKind = iota
	// obstacleHeld: somebody has the port, and neither side names hosts.
	obstacleHeld
	// obstacleWhole: somebody has the port as a whole, and the claim names hosts.
	obstacleWhole
	// obstacleShared: hosts share the port, and the claim wants all of it.
	obstacleShared
	// obstacleHost: somebody has the host on this port.
	obstacleHost
	// obstacleAccept: the port accepts the PROXY protocol otherwise.
	obstacleAccept
	// obstacleTaken: somebody else's port of the Service has the number.
	obstacleTaken
)

// obstacle is what stands in the way of a claim.
type obstacle struct {
	kind obstacleKind
	slot slot
	// holder is the claim that has it, nil for obstacleTaken.
	holder *claim
	// host of the claim, and the one of the holder that it meets.
	host, theirs string
	// text is the sentence for obstacleTaken.
	text string
}

func (l *ledger) isFree(s slot) bool { return l.whole.at(s) == nil && l.shared[s] == nil }

// obstacle gives the first thing that stands in the way of the claim.
func (l *ledger) obstacle(c *claim) obstacle {
	if len(c.want.Hosts) > 0 {
		return l.hostObstacle(c, slotOf(c.want.Protocol, c.want.Port))
	}
	for port := c.want.Port; port <= c.want.Last(); port++ {
		s := slotOf(c.want.Protocol, port)
		if o := l.whole.at(s); o != nil {
			return obstacle{kind: obstacleHeld, slot: s, holder: o}
		}
		if sh := l.shared[s]; sh != nil {
			return obstacle{kind: obstacleShared, slot: s, holder: sh.oldest()}
		}
	}
	return obstacle{}
}

func (l *ledger) hostObstacle(c *claim, s slot) obstacle {
	if o := l.whole.at(s); o != nil {
		return obstacle{kind: obstacleWhole, slot: s, holder: o}
	}
	sh := l.shared[s]
	if sh == nil {
		return obstacle{}
	}
	for _, host := range c.want.Hosts {
		if theirs := sh.meets(c, host); theirs != "" {
			return obstacle{kind: obstacleHost, slot: s, holder: sh.hosts[theirs], host: host, theirs: theirs}
		}
	}
	if sh.accept != c.want.AcceptProxy {
		return obstacle{kind: obstacleAccept, slot: s, holder: sh.oldest()}
	}
	return obstacle{}
}

// oldest gives the claim on the port that a message names.
func (sh *sharing) oldest() *claim {
	var first *claim
	for _, c := range sh.hosts {
		if first == nil || c.by.id < first.by.id || c.by.id == first.by.id && c.index < first.index {
			first = c
		}
	}
	return first
}

// meets gives the host of the port that a host of the claim meets, or "".
func (sh *sharing) meets(c *claim, host string) string {
	if sh.hosts[host] != nil {
		return host
	}
	found := ""
	for _, w := range sh.wildcards {
		if covers(w, host) && sh.hosts[w].by.Namespace != c.by.Namespace && (found == "" || w < found) {
			found = w
		}
	}
	if found != "" || host[0] != wildcard {
		return found
	}
	for other, o := range sh.hosts {
		if covers(host, other) && o.by.Namespace != c.by.Namespace && (found == "" || other < found) {
			found = other
		}
	}
	return found
}

// give enters an accepted claim.
func (l *ledger) give(c *claim) {
	if len(c.want.Hosts) == 0 {
		for port := c.want.Port; port <= c.want.Last(); port++ {
			l.whole.set(slotOf(c.want.Protocol, port), c)
		}
		return
	}
	s := slotOf(c.want.Protocol, c.want.Port)
	sh := l.shared[s]
	if sh == nil {
		sh = &sharing{accept: c.want.AcceptProxy, hosts: map[string]*claim{}, namespaces: map[string]bool{}}
		if l.shared == nil {
			l.shared = map[slot]*sharing{}
		}
		l.shared[s] = sh
	}
	sh.namespaces[c.by.Namespace] = true
	for _, host := range c.want.Hosts {
		sh.hosts[host] = c
		if host[0] == wildcard {
			sh.wildcards = append(sh.wildcards, host)
		}
	}
}
