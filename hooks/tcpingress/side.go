package tcpingress

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/ingressnginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/owned"
)

// capability is what the book asks of a provider by itself, see resolve.Dataplane.
type capability interface {
	Check(l *l4.Listener) string
	Reserved(p l4.Protocol, port int32) bool
	ReservedText() string
	Enabled(p l4.Protocol) bool
	Charges(l *l4.Listener) []l4.Charge
	Budgets() []l4.Charge
}

// side is a provider of a class with what was observed of it. A class has one, and
// while its provider is switched two.
type side interface {
	capability
	provider() crdv1.Provider
	// entries say what the observed configuration does with each port, and taken which
	// ports it cannot have, with the sentence.
	entries() map[l4.Key]l4.Entry
	taken() map[l4.Key]string
	// problems are sentences on why the configuration cannot be written as it is.
	problems() []string
	// live tells whether the observed configuration carries exactly the listener.
	live(l *l4.Listener) bool
	// running tells whether nginx runs, as far as we are told, and if not why. Settled
	// asks for a rollout that is through, too.
	running(settled bool) (ok bool, why string)
	// follows tells that nginx sees a change later than it was observed.
	follows() bool
	// objects names what a protocol needs beside its Service: "ConfigMap ns/name", and
	// missing those of them that were not observed as ours, but must be there always.
	objects(p l4.Protocol) []string
	missing(p l4.Protocol) []string
	// inUse tells whether something observed was made by us.
	inUse() bool
	// children are what shall exist. Leaving tells that the side shall go soon, so
	// that what is not there is not made any more.
	children(table l4.Table, leaving bool) []child
	// remains are what must stay of a side that has no children.
	remains() []child
	// foreign names entries of others.
	foreign(table l4.Table, inBook func(l4.Key) bool) []string
}

// child is an object that shall exist, with its name for a message.
type child struct {
	text   string
	object any
}

// ingressNginxSide is an ingress-nginx controller that somebody else runs.
type ingressNginxSide struct {
	*ingressnginx.Provider
	layout *layout
	seen   ingressnginx.Observed
}

func newIngressNginxSide(l *layout, configMaps []corev1.ConfigMap) *ingressNginxSide {
	p := ingressnginx.New(l.ingressNginx)
	return &ingressNginxSide{Provider: p, layout: l, seen: p.Observe(configMaps)}
}

func (s *ingressNginxSide) provider() crdv1.Provider { return crdv1.ProviderIngressNginx }

func (s *ingressNginxSide) entries() map[l4.Key]l4.Entry { return s.seen.Entries }

func (s *ingressNginxSide) taken() map[l4.Key]string { return s.seen.Taken }

func (s *ingressNginxSide) problems() []string { return s.seen.Problems }

func (s *ingressNginxSide) live(l *l4.Listener) bool { return s.seen.Live(l) }

// running: nobody tells us of its controller.
func (s *ingressNginxSide) running(bool) (ok bool, why string) { return true, "" }

// follows: the controller watches its ConfigMaps.
func (s *ingressNginxSide) follows() bool { return false }

func (s *ingressNginxSide) text(p l4.Protocol) string {
	return "ConfigMap " + s.layout.namespace() + "/" + s.layout.configMap(p)
}

func (s *ingressNginxSide) objects(p l4.Protocol) []string {
	if !s.Enabled(p) {
		return nil
	}
	return []string{s.text(p)}
}

func (s *ingressNginxSide) missing(p l4.Protocol) []string {
	if s.seen.Exists(p) {
		return nil
	}
	return s.objects(p)
}

func (s *ingressNginxSide) inUse() bool { return s.seen.InUse() }

func (s *ingressNginxSide) children(table l4.Table, leaving bool) []child {
	var list []child
	for _, cm := range s.ConfigMaps(table, s.seen) {
		c := child{"ConfigMap " + *cm.Metadata.Namespace + "/" + *cm.Metadata.Name, cm}
		if !leaving || s.exists(c.text) {
			list = append(list, c)
		}
	}
	return list
}

func (s *ingressNginxSide) exists(text string) bool {
	for _, p := range protocols() {
		if s.Enabled(p) && s.text(p) == text {
			return s.seen.Exists(p)
		}
	}
	return false
}

func (s *ingressNginxSide) remains() []child {
	var list []child
	for _, cm := range s.Remains(s.seen) {
		list = append(list, child{"ConfigMap " + *cm.Metadata.Namespace + "/" + *cm.Metadata.Name, cm})
	}
	return list
}

func (s *ingressNginxSide) foreign(table l4.Table, inBook func(l4.Key) bool) []string {
	return s.seen.Foreign(table, inBook)
}

// foreignKeys names the keys of a ConfigMap that we did not write.
func foreignKeys(cm *corev1.ConfigMap) []string {
	fields := owned.Of(&cm.ObjectMeta)
	var list []string
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		if !fields.Has("data", key) {
			list = append(list, fmt.Sprintf("key %s of ConfigMap %s/%s", key, cm.Namespace, cm.Name))
		}
	}
	return list
}

// emptied gives a ConfigMap that keeps the keys of others only.
func emptied(cm *corev1.ConfigMap, labels map[string]string) *ingressnginx.ConfigMap {
	out := &ingressnginx.ConfigMap{
		Metadata: metav1ac.ObjectMeta().WithName(cm.Name).WithNamespace(cm.Namespace).WithLabels(labels),
		Data:     map[string]string{},
	}
	out.WithKind("ConfigMap").WithAPIVersion("v1")
	return out
}
