package standin

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// Strategy is how children are created and updated.
type Strategy string

// Both strategies are named as Metacontroller's flag names them.
const (
	DynamicApply    Strategy = "dynamic-apply"
	ServerSideApply Strategy = "server-side-apply"
)

// Options say what the stand-in does and where.
type Options struct {
	// Kubeconfig is the file with the address of the API server; Config is used
	// instead if it is set. Requests are not throttled unless Config says so.
	Kubeconfig string
	Config     *rest.Config
	// Controllers are CompositeControllers and DecoratorControllers, as in their
	// manifests; ReadControllers reads them.
	Controllers []*unstructured.Unstructured
	// HookURL is put in front of the path of every hook, in place of its Service.
	HookURL string
	// Strategy is DynamicApply unless set.
	Strategy Strategy
	// Workers per controller, 5 unless set.
	Workers int
	// ResyncPeriod, if set, is used in place of every resyncPeriodSeconds, also of
	// missing ones. At least a second.
	ResyncPeriod time.Duration
	// Log tells what is written and what goes wrong; nothing unless set.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Strategy == "" {
		o.Strategy = DynamicApply
	}
	if o.Workers == 0 {
		o.Workers = 5
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Strategy != DynamicApply && o.Strategy != ServerSideApply:
		return fmt.Errorf("apply strategy %q is neither %s nor %s", o.Strategy, DynamicApply, ServerSideApply)
	case o.HookURL == "":
		return errors.New("the URL of the hooks is missing")
	case o.Kubeconfig == "" && o.Config == nil:
		return errors.New("the kubeconfig is missing")
	case len(o.Controllers) == 0:
		return errors.New("there are no controllers")
	case o.Workers < 0:
		return errors.New("the number of workers is negative")
	default:
		return nil
	}
}

// config gives a copy of the configuration that is ours to change.
func (o Options) config() (*rest.Config, error) {
	var config *rest.Config
	if o.Config != nil {
		config = rest.CopyConfig(o.Config)
	} else {
		var err error
		if config, err = clientcmd.BuildConfigFromFlags("", o.Kubeconfig); err != nil {
			return nil, fmt.Errorf("reading kubeconfig: %w", err)
		}
	}
	if config.QPS == 0 && config.RateLimiter == nil {
		config.QPS = -1
	}
	// The first word becomes the field manager of all but server-side apply.
	config.UserAgent = fieldManager + "/stand-in"
	return config, nil
}

// ReadControllers reads the controllers of all YAML files of a folder tree; other
// objects in them are left out.
func ReadControllers(files fs.FS) ([]*unstructured.Unstructured, error) {
	var controllers []*unstructured.Unstructured
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		found, err := simulate.ReadManifests(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		controllers = append(controllers, found...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading controllers: %w", err)
	}
	return controllers, nil
}
