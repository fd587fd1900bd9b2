package ingressnginx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/owned"
)

// Observed is what the observed ConfigMaps say.
type Observed struct {
	// Entries are what ingress-nginx understands, reserved ports left out.
	Entries map[l4.Key]l4.Entry
	// Taken are numbers that cannot be given because of what somebody else wrote;
	// the value is the message, which names the remedy.
	Taken map[l4.Key]string
	// Problems are sentences on why a ConfigMap cannot be written at all.
	Problems []string

	maps map[l4.Protocol]*seen
}

// seen is one observed ConfigMap; nil if there is none.
type seen struct {
	*corev1.ConfigMap
	fields owned.Fields
}

// Observe reads the observed ConfigMaps; others than those of the Config are ignored.
func (p *Provider) Observe(configMaps []corev1.ConfigMap) Observed {
	o := Observed{
		Entries: make(map[l4.Key]l4.Entry),
		Taken:   make(map[l4.Key]string),
		maps:    make(map[l4.Protocol]*seen),
	}
	for i := range configMaps {
		cm := &configMaps[i]
		for _, protocol := range p.enabled() {
			if cm.Namespace == p.config.Namespace && cm.Name == p.name(protocol) {
				o.maps[protocol] = &seen{cm, owned.Of(&cm.ObjectMeta)}
				p.readKeys(&o, protocol, cm)
			}
		}
	}
	for _, protocol := range p.enabled() {
		if o.maps[protocol].immutable() {
			o.Problems = append(o.Problems, p.text(protocol)+" is immutable, so that its ports cannot change; let it be made anew without immutable.")
		}
	}
	return o
}

func (p *Provider) readKeys(o *Observed, protocol l4.Protocol, cm *corev1.ConfigMap) {
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		port, plain, ok := parseKey(key)
		at := l4.Key{Protocol: protocol, Port: port}
		switch {
		case !ok:
		case !plain:
			// Two spellings of one number give nginx two listeners on it, and then it
			// loads no configuration any more.
			o.Taken[at] = fmt.Sprintf("The key %q in %s stands for the same port; remove it there, or choose another port.", key, p.text(protocol))
		case !p.Reserved(protocol, port):
			if entry, err := Parse(cm.Data[key], protocol); err == nil {
				o.Entries[at] = entry
			}
		}
	}
	for key := range cm.BinaryData {
		if port, plain, ok := parseKey(key); ok && plain {
			o.Taken[l4.Key{Protocol: protocol, Port: port}] = fmt.Sprintf("The key %q is in binaryData of %s; remove it there, or choose another port.", key, p.text(protocol))
		}
	}
}

// parseKey reads a key as ingress-nginx does, but for its missing check of the
// range. Plain tells that the key is spelled as we spell it.
func parseKey(key string) (port int32, plain, ok bool) {
	number, err := strconv.Atoi(key)
	if err != nil || !isPort(number) {
		return 0, false, false
	}
	return int32(number), strconv.Itoa(number) == key, true
}

// Live tells whether the observed ConfigMap says exactly what the listener says.
func (o Observed) Live(l *l4.Listener) bool {
	cm := o.maps[l.Protocol]
	if cm == nil || cm.DeletionTimestamp != nil {
		return false
	}
	for port := l.Port; port <= l.Last(); port++ {
		if cm.Data[decimal(port)] != Format(l, port) {
			return false
		}
		if _, ok := o.Taken[l4.Key{Protocol: l.Protocol, Port: port}]; ok {
			return false
		}
	}
	return true
}

// Foreign names the keys that are not desired, were not in the book before and
// are not ours by the object's own record: `key 9999 of ConfigMap ns/name`. They
// are sorted by protocol and number.
func (o Observed) Foreign(desired l4.Table, previous func(l4.Key) bool) []string {
	var list []string
	for _, protocol := range []l4.Protocol{l4.TCP, l4.UDP} {
		cm := o.maps[protocol]
		if cm == nil {
			continue
		}
		ours := make(map[int32]bool, len(cm.Data))
		for i := range desired {
			if l := &desired[i]; l.Protocol == protocol {
				for port := l.Port; port <= l.Last(); port++ {
					ours[port] = true
				}
			}
		}
		for _, key := range slices.SortedFunc(maps.Keys(cm.Data), compareKeys) {
			port, plain, _ := parseKey(key)
			if plain && (ours[port] || previous(l4.Key{Protocol: protocol, Port: port})) || cm.fields.Has("data", key) {
				continue
			}
			list = append(list, fmt.Sprintf("key %s of ConfigMap %s/%s", key, cm.Namespace, cm.Name))
		}
	}
	return list
}

// compareKeys sorts by number, what is none first.
func compareKeys(a, b string) int {
	m, _, _ := parseKey(a)
	n, _, _ := parseKey(b)
	return cmp.Or(cmp.Compare(m, n), cmp.Compare(a, b))
}

func (s *seen) immutable() bool { return s != nil && s.Immutable != nil && *s.Immutable }

// ours are the observed keys that we wrote, with their observed values.
func (s *seen) ours() map[string]string {
	data := make(map[string]string)
	for key, value := range s.Data {
		if s.fields.Has("data", key) {
			data[key] = value
		}
	}
	return data
}

// foreign tells whether there is a key that we did not write.
func (s *seen) foreign() bool {
	if s == nil {
		return false
	}
	for key := range s.Data {
		if !s.fields.Has("data", key) {
			return true
		}
	}
	return false
}
