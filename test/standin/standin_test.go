package standin_test

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/nginx-stream/tcpingress/manifests"
	"github.com/nginx-stream/tcpingress/test/standin"
)

func TestReadControllersFindsOurs(t *testing.T) {
	t.Parallel()
	controllers, err := standin.ReadControllers(manifests.Base)
	require.NoError(t, err)
	var got []string
	for _, c := range controllers {
		got = append(got, c.GetKind()+" "+c.GetName())
	}
	want := []string{"DecoratorController tcpingress-expose", "CompositeController tcpingress", "CompositeController tcpingressclass"}
	assert.Equal(t, want, got)
}

func TestReadControllersNamesTheFileThatIsNoYAML(t *testing.T) {
	t.Parallel()
	_, err := standin.ReadControllers(fstest.MapFS{"a/b.yaml": {Data: []byte("a: [")}})
	assert.ErrorContains(t, err, "a/b.yaml")
}

func TestStartRefusesOptions(t *testing.T) {
	t.Parallel()
	good := standin.Options{
		// Nobody listens there; nothing here gets as far.
		Config:      &rest.Config{Host: "http://127.0.0.1:1", Timeout: time.Second},
		Controllers: []*unstructured.Unstructured{{Object: map[string]any{"kind": "CompositeController"}}},
		HookURL:     "http://127.0.0.1:1",
	}
	tests := map[string]struct {
		spoil func(*standin.Options)
		want  string
	}{
		"an unknown strategy": {
			spoil: func(o *standin.Options) { o.Strategy = "merge" },
			want:  `starting the stand-in: apply strategy "merge" is neither dynamic-apply nor server-side-apply`,
		},
		"no hooks": {
			spoil: func(o *standin.Options) { o.HookURL = "" },
			want:  "starting the stand-in: the URL of the hooks is missing",
		},
		"no API server": {
			spoil: func(o *standin.Options) { o.Config = nil },
			want:  "starting the stand-in: the kubeconfig is missing",
		},
		"no controllers": {
			spoil: func(o *standin.Options) { o.Controllers = nil },
			want:  "starting the stand-in: there are no controllers",
		},
		"a CompositeController without hooks": {
			spoil: func(*standin.Options) {},
			want:  "starting the stand-in: reading CompositeController : it has no sync hook",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := good
			tc.spoil(&options)
			_, err := standin.Start(t.Context(), options)
			assert.EqualError(t, err, tc.want)
		})
	}
}
