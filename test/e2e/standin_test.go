package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: "

// TestWhoApplies is about whoever calls the hooks and applies what they answer: the
// stand-in must do what the real Metacontroller does.
func TestWhoApplies(t *testing.T) {
	t.Parallel()
	b := startBoxes(t)
	for name, play := range map[string]func(*testing.T, *boxes){
		"creates, updates and deletes a child":             playLife,
		"brings a child back that was deleted by hand":     playComeBack,
		"writes nothing when nothing changes":              playQuiet,
		"meets an object that exists already":              playExists,
		"releases a child that lost its label":             playRelease,
		"does not update a child without an update method": playOnDelete,
		"tells a hook that answers 500":                    play500,
		"waits for a hook that answers 429":                play429,
		"does not wait for a slow hook":                    playSlow,
		"refuses unknown fields":                           playUnknown,
		"tells a child that the API server refuses":        playRefused,
		"finds related objects and follows them":           playRelated,
		"asks customize once for each generation":          playCustomize,
		"ignores changes of the status":                    playStatus,
		"calls again after some seconds":                   playResync,
		"calls again all the time":                         playPeriod,
		"decorates":                                        playDecorator,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, b)
		})
	}
}

func playLife(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {children: ["+configMap+"a, namespace: $box}, data: {k: v, l: w}}]}")
	o.until("it is created", func() bool { return o.data() == `{"k":"v","l":"w"}` })
	assert.True(t, o.owned("a"))
	assert.Equal(t, string(o.get("Box", o.name).GetUID()), o.get("ConfigMap", "a").GetLabels()[simulate.ControllerUIDLabel])
	_, annotated := o.get("ConfigMap", "a").GetAnnotations()[simulate.LastAppliedAnnotation]
	assert.Equal(t, harness.Strategy() == "dynamic-apply", annotated)
	o.until("the hook sees it", func() bool { return o.status("children", "ConfigMap.v1") == "a" })
	assert.Equal(t, "", o.status("children", "Service.v1"), "an empty group is there")
	assert.EqualValues(t, 1, o.get("Box", o.name).Object["status"].(map[string]any)["observedGeneration"])

	o.patch("ConfigMap", "a", `{"data":{"foreign":"stays"}}`)
	o.set("spec: {children: [" + configMap + "a, namespace: $box}, data: {k: new}}]}")
	o.until("it is updated", func() bool { return o.data() == `{"foreign":"stays","k":"new"}` })
	o.set("spec: {children: []}")
	o.until("it is deleted", func() bool { return o.get("ConfigMap", "a").GetName() == "" })
	o.until("the status is new", func() bool { return o.status("children", "ConfigMap.v1") == "" })
}

func playComeBack(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {children: ["+configMap+"a, namespace: $box}, data: {k: v}}]}")
	o.until("it is created", func() bool { return o.owned("a") })
	uid := o.get("ConfigMap", "a").GetUID()
	o.remove("ConfigMap", "a")
	o.until("it comes back", func() bool { return o.owned("a") && o.get("ConfigMap", "a").GetUID() != uid })
	o.patch("ConfigMap", "a", `{"data":null}`)
	o.until("its data comes back", func() bool { return o.data() == `{"k":"v"}` })
}

func playQuiet(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {children: ["+configMap+"a, namespace: $box}, data: {k: v}}]}").quiet()
	child, parent, calls := o.get("ConfigMap", "a").GetResourceVersion(), o.get("Box", o.name).GetResourceVersion(), len(o.called("/sync"))
	o.patch("Box", o.name, `{"metadata":{"annotations":{"poke":"1"}}}`)
	parentPoked := o.get("Box", o.name).GetResourceVersion()
	o.quiet()
	assert.Greater(t, len(o.called("/sync")), calls)
	assert.NotEqual(t, parent, parentPoked)
	assert.Equal(t, child, o.get("ConfigMap", "a").GetResourceVersion())
	assert.Equal(t, parentPoked, o.get("Box", o.name).GetResourceVersion())
}

func playExists(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {}").quiet()
	o.put(configMap + "a, namespace: $box}, data: {foreign: stays}}")
	o.set("spec: {children: [" + configMap + "a, namespace: $box}, data: {k: v}}]}").quiet()
	if harness.Strategy() == "dynamic-apply" {
		assert.False(t, o.owned("a"))
		assert.Equal(t, `{"foreign":"stays"}`, o.data())
		assert.Empty(t, o.events(), "it is not told")
		o.patch("ConfigMap", "a", `{"metadata":{"labels":{"controller-uid":"$uid"}}}`)
	}
	o.until("it is adopted and updated", func() bool { return o.owned("a") && o.data() == `{"foreign":"stays","k":"v"}` })
}

func playRelease(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {children: ["+configMap+"a, namespace: $box}, data: {k: v}}]}")
	o.until("the hook sees it", func() bool { return o.status("children", "ConfigMap.v1") == "a" }).quiet()
	o.set("spec: {children: []}")
	o.until("it is deleted", func() bool { return o.get("ConfigMap", "a").GetName() == "" })
	o.put(configMap + "b, namespace: $box}, data: {foreign: stays}}")
	o.patch("ConfigMap", "b", `{"metadata":{"labels":{"controller-uid":"$uid"}}}`)
	// Nobody wants it: adopted, and then deleted.
	o.until("it is deleted", func() bool { return o.get("ConfigMap", "b").GetName() == "" })
	o.set("spec: {children: [" + configMap + "c, namespace: $box}, data: {k: v}}]}")
	o.until("it is created", func() bool { return o.owned("c") }).quiet()
	o.set("spec: {fault: {calls: 1000, code: 500}}")
	o.patch("ConfigMap", "c", `{"metadata":{"labels":{"controller-uid":"somebody"}}}`)
	o.until("it is released", func() bool { return o.get("ConfigMap", "c").GetName() == "c" && !o.owned("c") })
}

func playOnDelete(t *testing.T, b *boxes) {
	service := "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: $box}, spec: {ports: [{port: "
	o := b.box(t, "spec: {children: ["+service+"1}]}}]}")
	o.until("the hook sees it", func() bool { return o.status("children", "Service.v1") == "a" }).quiet()
	version := o.get("Service", "a").GetResourceVersion()
	o.set("spec: {children: [" + service + "2}]}}]}").quiet()
	assert.Equal(t, version, o.get("Service", "a").GetResourceVersion())
}

func play500(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {fault: {calls: 3, code: 500}, children: ["+configMap+"a, namespace: $box}, data: {k: v}}]}")
	o.until("it is told", func() bool { return o.events() != "" })
	assert.Contains(t, o.events(), "500")
	o.until("it is created after all", func() bool { return o.owned("a") })
	assert.GreaterOrEqual(t, len(o.called("/sync")), 4)
}

func play429(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {fault: {calls: 1, code: 429, after: \"2\"}, children: ["+configMap+"a, namespace: $box}, data: {k: v}}]}")
	o.until("it is created after all", func() bool { return o.owned("a") })
	calls := o.called("/sync")
	require.GreaterOrEqual(t, len(calls), 2)
	assert.GreaterOrEqual(t, calls[1].Sub(calls[0]), 1900*time.Millisecond)
	assert.Empty(t, o.events(), "it is not told")
}

func playSlow(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {fault: {calls: 1}, children: ["+configMap+"a, namespace: $box}, data: {k: v}}]}")
	o.until("it is told", func() bool { return o.events() != "" })
	o.until("it is created after all", func() bool { return o.owned("a") })
}

func playUnknown(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {unknown: true, children: ["+configMap+"a, namespace: $box}, data: {k: v}}]}")
	o.until("it is told", func() bool { return o.events() != "" })
	assert.Contains(t, o.events(), `unknown field "unknown"`)
	assert.Empty(t, o.data())
	assert.Equal(t, "nothing", o.status("children", "ConfigMap.v1"))
}

func playRefused(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {children: ["+configMap+"a, namespace: $box}, data: {no/key: v}}, "+configMap+"b, namespace: $box}, data: {k: v}}]}")
	o.until("it is told", func() bool { return o.events() != "" })
	assert.Contains(t, o.events(), "no/key")
	o.until("the other is created", func() bool { return o.owned("b") })
	o.until("the status is written", func() bool { return o.status("children", "ConfigMap.v1") == "b" })
}

func playRelated(t *testing.T, b *boxes) {
	o := b.box(t, `spec:
  related:
  - {apiVersion: v1, resource: secrets2}
`)
	o.until("an unknown resource is told", func() bool { return o.events() != "" })
	o.set(`spec:
  related:
  - {apiVersion: v1, resource: configmaps, namespace: $box, names: [by-name]}
  - {apiVersion: v1, resource: configmaps, namespace: $box, labelSelector: {matchLabels: {color: red}}}
  - {apiVersion: v1, resource: services, namespaceSelector: {matchLabels: {color: $box}}}
`)
	related := func(group, want string) {
		t.Helper()
		o.until(group+" are "+want, func() bool { return o.status("related", group) == want })
	}
	related("ConfigMap.v1", "")
	related("Service.v1", "")
	o.put(configMap + "by-name, namespace: $box}}\n---\n" + configMap + "other, namespace: $box}}")
	related("ConfigMap.v1", "by-name")
	o.put(configMap + "other, namespace: $box, labels: {color: red}}}")
	related("ConfigMap.v1", "by-name other")
	o.put(configMap + "other, namespace: $box, labels: {color: blue}}}")
	related("ConfigMap.v1", "by-name")
	o.put("{apiVersion: v1, kind: Service, metadata: {name: s, namespace: $box}, spec: {ports: [{port: 1}]}}")
	related("Service.v1", "s")
	o.remove("ConfigMap", "by-name")
	related("ConfigMap.v1", "")
}

func playCustomize(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {}").quiet()
	o.patch("Box", o.name, `{"metadata":{"annotations":{"poke":"1"}}}`)
	o.quiet()
	assert.Len(t, o.called("/customize"), 1)
	o.set("spec: {children: []}").quiet()
	assert.Len(t, o.called("/customize"), 2)
}

func playStatus(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {}").quiet()
	calls := len(o.called("/sync"))
	o.patch("Box", o.name, `{"status":{"foreign":"goes"}}`, "status")
	o.quiet()
	assert.Len(t, o.called("/sync"), calls)
	o.patch("Box", o.name, `{"metadata":{"annotations":{"poke":"1"}}}`)
	o.until("the status is replaced", func() bool {
		return o.get("Box", o.name).Object["status"].(map[string]any)["foreign"] == nil
	})
}

func playResync(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {resyncAfterSeconds: 0.5}")
	o.until("it is called again", func() bool { return len(o.called("/sync")) >= 5 })
	calls := o.called("/sync")
	assert.Greater(t, calls[4].Sub(calls[1]), time.Second)
	assert.Less(t, calls[4].Sub(calls[1]), 10*time.Second)
}

func playPeriod(t *testing.T, b *boxes) {
	o := b.box(t, "spec: {}")
	o.patch("Box", o.name, `{"metadata":{"labels":{"clock":"yes"}}}`)
	o.until("it is called again", func() bool { return len(o.called("/tick")) >= 5 })
	calls := o.called("/tick")
	assert.Greater(t, calls[4].Sub(calls[1]), 1500*time.Millisecond)
}

func playDecorator(t *testing.T, b *boxes) {
	bow := func(length string) string {
		return "{apiVersion: example.org/v1, kind: Bow, metadata: {name: a, namespace: $box}, length: " + length + "}"
	}
	o := b.box(t, "spec: {annotations: {bow: red}, attachments: ["+bow("short")+"]}").quiet()
	assert.Empty(t, o.called("/decorate"))
	o.patch("Box", o.name, `{"metadata":{"labels":{"ribbon":"yes"}}}`)
	o.until("it is decorated", func() bool { return o.get("Box", o.name).GetAnnotations()["bow"] == "red" })
	o.until("it has its attachment", func() bool { return o.owns(o.get("Bow", "a")) })
	assert.Equal(t, "ribbon", o.get("Bow", "a").GetAnnotations()[simulate.DecoratorAnnotation])
	assert.Empty(t, o.get("Bow", "a").GetLabels())
	version := o.quiet().get("Bow", "a").GetResourceVersion()
	o.patch("Box", o.name, `{"metadata":{"annotations":{"poke":"1"}}}`)
	assert.Equal(t, version, o.quiet().get("Bow", "a").GetResourceVersion())

	o.put("apiVersion: example.org/v1\nkind: Box\nmetadata: {name: $box, labels: {ribbon: \"yes\"}}\nspec: {annotations: {bow: blue}, attachments: [" + bow("long") + "]}")
	o.until("the attachment is updated", func() bool { return o.get("Bow", "a").Object["length"] == "long" })
	assert.Equal(t, "blue", o.get("Box", o.name).GetAnnotations()["bow"])
	o.put("{apiVersion: example.org/v1, kind: Bow, metadata: {name: foreign, namespace: $box}}")
	o.patch("Box", o.name, `{"spec":{"annotations":null,"removed":["bow"],"attachments":[]}}`)
	o.until("the attachment is deleted", func() bool { return o.get("Bow", "a").GetName() == "" })
	assert.Empty(t, o.get("Box", o.name).GetAnnotations()["bow"])
	assert.Equal(t, "foreign", o.get("Bow", "foreign").GetName())
}
