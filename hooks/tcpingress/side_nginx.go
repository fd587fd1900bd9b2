package tcpingress

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/workload"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/owned"
)

// nginxSide is stock nginx that we run.
type nginxSide struct {
	*nginx.Provider
	settings *workload.Settings
	seen     nginx.Observed
	// configMaps are the observed ones that have the name of a child.
	configMaps []corev1.ConfigMap
	deployment *appsv1.Deployment
	disruption bool
	names      []string
}

func newNginxSide(l *layout, in *classInput, configMaps []corev1.ConfigMap) *nginxSide {
	s := &nginxSide{Provider: nginx.New(l.nginx), settings: &l.workload}
	own := workload.ConfigMaps(l.nginx.Name)
	for i := range configMaps {
		if cm := &configMaps[i]; cm.Namespace == l.namespace() && slices.Contains(own, cm.Name) {
			s.configMaps = append(s.configMaps, *cm)
		}
	}
	s.seen = s.Observe(s.configMaps)
	for i := range in.deployments {
		if d := &in.deployments[i].Deployment; d.Namespace == l.namespace() && d.Name == l.workload.Name {
			s.deployment = d
		}
	}
	for i := range in.disruptions {
		if d := &in.disruptions[i]; d.Namespace == l.namespace() && d.Name == l.workload.Name {
			s.disruption = true
		}
	}
	for _, name := range own {
		s.names = append(s.names, s.text("ConfigMap", name))
	}
	s.names = append(s.names, s.text("Deployment", l.workload.Name), s.text("PodDisruptionBudget", l.workload.Name))
	return s
}

func (s *nginxSide) text(kind, name string) string {
	return kind + " " + s.settings.Namespace + "/" + name
}

func (s *nginxSide) provider() crdv1.Provider { return crdv1.ProviderNginx }

func (s *nginxSide) entries() map[l4.Key]l4.Entry { return s.seen.Entries }

func (s *nginxSide) taken() map[l4.Key]string { return nil }

func (s *nginxSide) problems() []string { return s.seen.Problems }

func (s *nginxSide) live(l *l4.Listener) bool { return s.seen.Live(l) }

func (s *nginxSide) running(settled bool) (ok bool, why string) {
	if settled {
		return workload.RolledOut(s.settings, s.deployment)
	}
	return workload.Available(s.settings, s.deployment)
}

// follows: the kubelet shows a ConfigMap to the pods when it comes to it.
func (s *nginxSide) follows() bool { return true }

func (s *nginxSide) objects(l4.Protocol) []string { return s.names }

func (s *nginxSide) missing(l4.Protocol) []string {
	var list []string
	if !s.has(s.settings.Name) {
		list = append(list, s.text("ConfigMap", s.settings.Name))
	}
	if s.deployment == nil {
		list = append(list, s.text("Deployment", s.settings.Name))
	}
	if !s.disruption {
		list = append(list, s.text("PodDisruptionBudget", s.settings.Name))
	}
	return list
}

func (s *nginxSide) has(configMap string) bool {
	return slices.ContainsFunc(s.configMaps, func(cm corev1.ConfigMap) bool { return cm.Name == configMap })
}

func (s *nginxSide) inUse() bool {
	if s.deployment != nil && written(&s.deployment.ObjectMeta) {
		return true
	}
	return slices.ContainsFunc(s.configMaps, func(cm corev1.ConfigMap) bool {
		return cm.Name == s.settings.Name && written(&cm.ObjectMeta)
	})
}

// children without a number behind a named port wait for it.
func (s *nginxSide) children(table l4.Table, leaving bool) []child {
	if leaving && !s.inUse() {
		return nil
	}
	table = slices.DeleteFunc(slices.Clone(table), func(l l4.Listener) bool { return l.Backend.PortName != "" })
	var list []child
	rendered := make(map[string]bool)
	for _, cm := range s.ConfigMaps(table) {
		c := child{s.text("ConfigMap", *cm.Name), cm}
		rendered[c.text] = true
		list = append(list, c)
	}
	for _, c := range s.emptied(func(*corev1.ConfigMap) bool { return true }) {
		if !rendered[c.text] {
			list = append(list, c)
		}
	}
	return append(list,
		child{s.text("Deployment", s.settings.Name), workload.Deployment(s.settings, s.deployment)},
		child{s.text("PodDisruptionBudget", s.settings.Name), workload.Disruption(s.settings)},
	)
}

func (s *nginxSide) remains() []child {
	return s.emptied(func(cm *corev1.ConfigMap) bool { return written(&cm.ObjectMeta) })
}

// written tells whether we wrote to the object: all of ours have a label.
func written(meta *metav1.ObjectMeta) bool { return owned.Of(meta).Has("metadata", "labels") }

// emptied are ConfigMaps with keys of others, without ours.
func (s *nginxSide) emptied(which func(*corev1.ConfigMap) bool) []child {
	var list []child
	for i := range s.configMaps {
		if cm := &s.configMaps[i]; len(foreignKeys(cm)) > 0 && which(cm) {
			list = append(list, child{s.text("ConfigMap", cm.Name), emptied(cm, s.settings.Labels)})
		}
	}
	return list
}

func (s *nginxSide) foreign(l4.Table, func(l4.Key) bool) []string {
	var list []string
	for i := range s.configMaps {
		list = append(list, foreignKeys(&s.configMaps[i])...)
	}
	return list
}
