package service

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// spec gives the fields that shall be written, without ports.
func (v *view) spec() corev1ac.ServiceSpecApplyConfiguration {
	var spec corev1ac.ServiceSpecApplyConfiguration
	s := v.effectiveSettings()
	written := v.writtenType()
	if written != "" {
		spec.Type = &written
	}
	kind := cmp.Or(written, v.observedType())
	if s.SelectorExplicit || v.service == nil || v.fields.Has("spec", "selector") {
		spec.Selector = maps.Clone(s.Selector)
	}
	if s.IPFamilyPolicy != "" && kind != corev1.ServiceTypeExternalName {
		policy := corev1.IPFamilyPolicy(s.IPFamilyPolicy)
		spec.IPFamilyPolicy = &policy
	}
	if s.ExternalTrafficPolicy != "" && (kind == corev1.ServiceTypeLoadBalancer || kind == corev1.ServiceTypeNodePort) {
		policy := corev1.ServiceExternalTrafficPolicy(s.ExternalTrafficPolicy)
		spec.ExternalTrafficPolicy = &policy
	}
	if kind == corev1.ServiceTypeLoadBalancer {
		spec.LoadBalancerClass = v.loadBalancerClass()
		spec.LoadBalancerSourceRanges = slices.Clone(s.LoadBalancerSourceRanges)
		spec.AllocateLoadBalancerNodePorts = s.AllocateNodePorts
	}
	return spec
}

// effectiveSettings are the settings, or, where the class makes no Service any
// more but others need this one, what we wrote to it: to leave it out would take
// it from them.
func (v *view) effectiveSettings() Settings {
	s := v.settings
	if s.Type != None || v.service == nil {
		return s
	}
	have := &v.service.Spec
	s.Selector, s.SelectorExplicit = maps.Clone(have.Selector), false
	if !v.serverSide {
		maps.DeleteFunc(s.Selector, func(key, _ string) bool { return !v.fields.Has("spec", "selector", key) })
	}
	if v.fields.Has("spec", "externalTrafficPolicy") {
		s.ExternalTrafficPolicy = string(have.ExternalTrafficPolicy)
	}
	if v.fields.Has("spec", "ipFamilyPolicy") && have.IPFamilyPolicy != nil {
		s.IPFamilyPolicy = string(*have.IPFamilyPolicy)
	}
	if v.fields.Has("spec", "loadBalancerSourceRanges") {
		s.LoadBalancerSourceRanges = have.LoadBalancerSourceRanges
	}
	if v.fields.Has("spec", "allocateLoadBalancerNodePorts") {
		s.AllocateNodePorts = have.AllocateLoadBalancerNodePorts
	}
	return s
}

func (v *view) observedType() corev1.ServiceType {
	if v.service == nil {
		return ""
	}
	return v.service.Spec.Type
}

// wantedType is the type that the class asks for, "" where it leaves an adopted
// Service as it is.
func (v *view) wantedType() corev1.ServiceType {
	switch {
	case v.settings.Type != "" && v.settings.Type != None:
		return corev1.ServiceType(v.settings.Type)
	case v.service != nil && !v.fields.Has("spec", "type"):
		return ""
	case v.settings.Type == None:
		return v.observedType()
	default:
		return corev1.ServiceTypeLoadBalancer
	}
}

// writtenType is wantedType, or the observed one where the API server would
// refuse the change. A type that we wrote once is always written again, because
// without it the Service would become a ClusterIP.
func (v *view) writtenType() corev1.ServiceType {
	want := v.wantedType()
	if !v.rigid() || v.typeProblem(want) == "" {
		return want
	}
	if v.fields.Has("spec", "type") {
		return v.observedType()
	}
	return ""
}

// rigid tells whether the observed Service has something that not every type allows.
func (v *view) rigid() bool {
	if v.service == nil {
		return false
	}
	_, annotated := v.service.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
	return annotated || len(v.service.Spec.LoadBalancerSourceRanges) > 0 || v.service.Spec.ClusterIP == corev1.ClusterIPNone
}

// typeProblem tells why the rigid Service cannot become of that type.
func (v *view) typeProblem(want corev1.ServiceType) string {
	if want == "" || want == v.service.Spec.Type {
		return ""
	}
	if v.service.Spec.ClusterIP == corev1.ClusterIPNone && want != corev1.ServiceTypeClusterIP {
		return fmt.Sprintf("%s is headless and cannot become a %s; let it be made anew, or set service.type to ClusterIP.", v.settings.text(), want)
	}
	if want != corev1.ServiceTypeLoadBalancer && v.foreignSourceRanges() {
		return fmt.Sprintf("%s has source ranges, which only a LoadBalancer may have, and cannot become a %s; remove them from it first.", v.settings.text(), want)
	}
	return ""
}

func (v *view) foreignSourceRanges() bool {
	if len(v.service.Spec.LoadBalancerSourceRanges) > 0 && !v.fields.Has("spec", "loadBalancerSourceRanges") {
		return true
	}
	const key = corev1.AnnotationLoadBalancerSourceRangesKey
	_, ok := v.service.Annotations[key]
	return ok && !v.fields.Has("metadata", "annotations", key)
}

// loadBalancerClass may not change while the Service is a LoadBalancer, neither
// from nor to unset.
func (v *view) loadBalancerClass() *string {
	want := v.settings.LoadBalancerClass
	if v.observedType() != corev1.ServiceTypeLoadBalancer {
		if want == "" {
			return nil
		}
		return &want
	}
	have := v.service.Spec.LoadBalancerClass
	if have != nil && (*have == want || v.fields.Has("spec", "loadBalancerClass")) {
		return have
	}
	return nil
}

// annotations are those of the settings, less one that only a LoadBalancer may have.
func (v *view) annotations() map[string]string {
	annotations := maps.Clone(v.settings.Annotations)
	if kind := cmp.Or(v.writtenType(), v.observedType()); kind != corev1.ServiceTypeLoadBalancer {
		delete(annotations, corev1.AnnotationLoadBalancerSourceRangesKey)
	}
	return annotations
}
