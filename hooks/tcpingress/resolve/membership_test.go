package resolve

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func TestMembership(t *testing.T) {
	t.Parallel()
	classless := func(change func(*Ingress)) Ingress {
		in := ti("a/x", 1, "80/TCP -> x:1")
		in.Spec.IngressClassName = ""
		if change != nil {
			change(&in)
		}
		return in
	}
	named := func(class string) Ingress {
		in := ti("a/x", 1, "80/TCP -> x:1")
		in.Spec.IngressClassName = class
		return in
	}
	was := func(class string) Ingress { return classless(func(in *Ingress) { in.StatusClass = class }) }
	holds := map[string]string{"80/TCP": "a/x/tcp-80"}
	others := map[string]string{"80/TCP": "a/xx/tcp-80"}
	ranges := []crdv1.ListenerRange{{From: 1, To: 2, Protocol: "TCP", Holder: "a/x/r"}}

	tests := map[string]struct {
		in      Ingress
		classes []Class
		want    bool
	}{
		"names the class":                                    {named("nginx"), []Class{{Name: "nginx"}}, true},
		"names another class":                                {named("internal"), []Class{{Name: "nginx", Default: true}, {Name: "internal"}}, false},
		"names another class, though the book has it":        {named("internal"), []Class{{Name: "nginx", Default: true, Listeners: holds}}, false},
		"names none, and there is no default":                {classless(nil), []Class{{Name: "nginx"}}, false},
		"names none, and the class is the default":           {classless(nil), []Class{{Name: "nginx", Default: true}}, true},
		"names none, and the default is being deleted":       {classless(nil), []Class{{Name: "nginx", Default: true, Deleting: true}}, false},
		"of two defaults the older":                          {classless(nil), []Class{{Name: "nginx", Default: true, Created: at(2)}, {Name: "z", Default: true, Created: at(1)}}, false},
		"of two defaults of the same age the lower name":     {classless(nil), []Class{{Name: "nginx", Default: true}, {Name: "z", Default: true}}, true},
		"of two defaults the one that is not deleted":        {classless(nil), []Class{{Name: "nginx", Default: true, Created: at(2)}, {Name: "z", Default: true, Created: at(1), Deleting: true}}, true},
		"stays with the class whose book has it":             {classless(nil), []Class{{Name: "nginx", Listeners: holds}, {Name: "z", Default: true}}, true},
		"stays with the class whose book has a range of it":  {classless(nil), []Class{{Name: "nginx", Ranges: ranges}, {Name: "z", Default: true}}, true},
		"stays with another class whose book has it":         {classless(nil), []Class{{Name: "nginx", Default: true}, {Name: "z", Listeners: holds}}, false},
		"a longer name in the book is somebody else":         {classless(nil), []Class{{Name: "nginx", Default: true}, {Name: "z", Listeners: others}}, true},
		"the book decides against the status":                {was("z"), []Class{{Name: "nginx", Listeners: holds}, {Name: "z", Default: true}}, true},
		"of two books the one that the status names":         {was("nginx"), []Class{{Name: "nginx", Listeners: holds, Created: at(2)}, {Name: "z", Listeners: holds, Created: at(1)}}, true},
		"of two books and no status the older":               {classless(nil), []Class{{Name: "nginx", Listeners: holds, Created: at(2)}, {Name: "z", Listeners: holds, Created: at(1)}}, false},
		"a book counts while its class is being deleted":     {classless(nil), []Class{{Name: "nginx", Listeners: holds, Deleting: true}, {Name: "z", Default: true}}, true},
		"without a book the status decides":                  {was("nginx"), []Class{{Name: "nginx"}, {Name: "z", Default: true}}, true},
		"a status of a class that is being deleted does not": {was("z"), []Class{{Name: "nginx", Default: true}, {Name: "z", Deleting: true}}, true},
		"a status of a class that is gone does not":          {was("gone"), []Class{{Name: "nginx", Default: true}}, true},
		"one that is being deleted holds nothing":            {classless(func(in *Ingress) { in.Deleting = true }), []Class{{Name: "nginx", Default: true, Listeners: holds}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(tc.in)
			w.Classes = tc.classes
			for i := range w.Classes {
				w.Classes[i].Spec = &crdv1.TCPIngressClassSpec{}
			}
			w.Class = w.Classes[slices.IndexFunc(w.Classes, func(c Class) bool { return c.Name == "nginx" })]
			out := Resolve(w, &fake{})
			assert.Equal(t, tc.want, len(out.Verdicts) == 1)
			assert.Equal(t, tc.want, len(out.Listeners) == 1)
		})
	}
}

// Uniqueness is per class: each class has its own book.
func TestTwoClassesHaveTwoBooks(t *testing.T) {
	t.Parallel()
	internal := ti("b/db", 2, "5432/TCP -> pg:5432")
	internal.Spec.IngressClassName = "internal"
	w := newWorld(ti("a/db", 1, "5432/TCP -> pg:5432"), internal)
	w.Classes = append(w.Classes, Class{Name: "internal", Spec: &crdv1.TCPIngressClassSpec{}})
	assert.Equal(t, map[string]string{"5432/TCP": "a/db/tcp-5432"}, Resolve(w, &fake{}).Listeners)
	w.Class = w.Classes[1]
	assert.Equal(t, map[string]string{"5432/TCP": "b/db/tcp-5432"}, Resolve(w, &fake{}).Listeners)
}
