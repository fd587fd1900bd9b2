package manifests_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/api/resmap"
)

// rights maps "group/resource" to sorted verbs.
type rights map[string][]string

func (r rights) add(apiVersion, name string, verbs ...string) {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	key := group + "/" + name
	all := append(slices.Clone(r[key]), verbs...)
	slices.Sort(all)
	r[key] = slices.Compact(all)
}

func granted(rules []rbacv1.PolicyRule) rights {
	out := rights{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, name := range rule.Resources {
				out.add(group+"/", name, rule.Verbs...)
			}
		}
	}
	return out
}

func clusterRole(t *testing.T, objects resmap.ResMap, name string) rights {
	t.Helper()
	return granted(one[rbacv1.ClusterRole](t, objects, "ClusterRole", name).Rules)
}

// What Metacontroller calls, read in its source: informers list and watch, status
// and adoption get and update, both ways to apply create, update and patch.
func needed(t *testing.T, objects resmap.ResMap) rights {
	t.Helper()
	watched := []string{"list", "watch"}
	parent := []string{"get", "list", "watch"}
	written := []string{"create", "delete", "get", "list", "patch", "update", "watch"}

	need := rights{}
	for _, name := range []string{"compositecontrollers", "controllerrevisions", "decoratorcontrollers"} {
		need.add("metacontroller.k8s.io/v1alpha1", name, watched...)
	}
	need.add("apiextensions.k8s.io/v1", "customresourcedefinitions", watched...)
	need.add("v1", "events", "create", "patch")
	for _, name := range []string{"tcpingressclass", "tcpingress"} {
		spec := one[composite](t, objects, "CompositeController", name).Spec
		p := spec.ParentResource
		need.add(p.APIVersion, p.Resource, parent...)
		need.add(p.APIVersion, p.Resource+"/status", "update")
		for _, c := range spec.ChildResources {
			need.add(p.APIVersion, p.Resource+"/finalizers", "update")
			need.add(c.APIVersion, c.Resource, written...)
		}
	}
	expose := one[decorator](t, objects, "DecoratorController", "tcpingress-expose").Spec
	for _, r := range expose.Resources {
		need.add(r.APIVersion, r.Resource, append(parent, "update")...)
		need.add(r.APIVersion, r.Resource+"/finalizers", "update")
	}
	for _, a := range expose.Attachments {
		need.add(a.APIVersion, a.Resource, written...)
	}
	for _, r := range related(t) {
		need.add(r.APIVersion, r.Resource, watched...)
	}
	return need
}

func TestMetacontrollerMayDoWhatItNeedsAndNoMore(t *testing.T) {
	t.Parallel()
	objects := built(t)
	want := needed(t, objects)
	got := clusterRole(t, objects, "tcpingress-metacontroller")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights of Metacontroller (-needed +granted):\n%s", diff)
	}
}

func TestMetacontrollerIsBound(t *testing.T) {
	t.Parallel()
	got := one[rbacv1.ClusterRoleBinding](t, built(t), "ClusterRoleBinding", "tcpingress-metacontroller")
	assert.Equal(t, "tcpingress-metacontroller", got.RoleRef.Name)
	assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "metacontroller", Namespace: "metacontroller"}}, got.Subjects)
}

func TestNoRoleReachesTooFar(t *testing.T) {
	t.Parallel()
	objects := built(t)
	for _, name := range []string{"tcpingress-metacontroller", "tcpingress-view", "tcpingress-edit", "tcpingressclass-admin"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := clusterRole(t, objects, name)
			assert.NotEmpty(t, got)
			for key, verbs := range got {
				assert.NotContains(t, key, "*")
				assert.NotContains(t, key, "secrets")
				assert.NotContains(t, key, "roles")
				assert.NotContains(t, verbs, "*")
			}
		})
	}
}

func TestUsersRoles(t *testing.T) {
	t.Parallel()
	objects := built(t)
	read := []string{"get", "list", "watch"}
	tests := map[string]struct {
		aggregate string
		want      rights
	}{
		"tcpingress-view": {
			aggregate: "view",
			want: rights{
				"nginx-stream.dev/tcpingresses":      read,
				"nginx-stream.dev/tcpingressclasses": read,
				"nginx-stream.dev/tcpingressslices":  read,
			},
		},
		// No /status: it is evidence in a dispute about a port. No slices: they are verdicts.
		"tcpingress-edit": {
			aggregate: "edit",
			want:      rights{"nginx-stream.dev/tcpingresses": {"create", "delete", "deletecollection", "patch", "update"}},
		},
		"tcpingressclass-admin": {
			want: rights{
				"nginx-stream.dev/tcpingressclasses": {"create", "delete", "get", "list", "patch", "update", "watch"},
				"nginx-stream.dev/tcpingresses":      read,
				"nginx-stream.dev/tcpingressslices":  read,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			role := one[rbacv1.ClusterRole](t, objects, "ClusterRole", name)
			assert.Equal(t, tc.want, granted(role.Rules))

			var got []string
			for _, label := range slices.Sorted(maps.Keys(role.Labels)) {
				if to, found := strings.CutPrefix(label, "rbac.authorization.k8s.io/aggregate-to-"); found {
					got = append(got, to)
				}
			}
			assert.Equal(t, tc.aggregate, strings.Join(got, ","))
		})
	}
}
