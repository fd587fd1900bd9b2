package standin

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// StandIn plays Metacontroller's part until Stop.
type StandIn struct {
	options     Options
	log         *slog.Logger
	api         *http.Client
	client      dynamic.Interface
	kinds       *kinds
	informers   *informers
	hooks       *http.Client
	events      *events
	counters    counters
	applier     applier
	controllers []*controller
	cancel      context.CancelFunc
	work        sync.WaitGroup
	stop        sync.Once
}

// Start starts the stand-in and returns at once; the work begins when the parents
// and children are known. It ends with ctx or with Stop.
func Start(ctx context.Context, options Options) (*StandIn, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("starting the stand-in: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &StandIn{options: options, log: options.Log, cancel: cancel}
	if err := s.prepare(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("starting the stand-in: %w", err)
	}
	for _, c := range s.controllers {
		c.watch(ctx)
	}
	s.informers.start()
	for _, c := range s.controllers {
		s.work.Go(func() { c.run(ctx) })
	}
	s.log.Info("the stand-in plays Metacontroller's part", "controllers", len(s.controllers), "strategy", options.Strategy)
	return s, nil
}

func (s *StandIn) prepare(ctx context.Context) error {
	config, err := s.options.config()
	if err != nil {
		return err
	}
	if err := s.connect(ctx, config); err != nil {
		return err
	}
	for _, manifest := range s.options.Controllers {
		c, err := s.readController(ctx, manifest)
		if err != nil {
			return fmt.Errorf("reading %s %s: %w", manifest.GetKind(), manifest.GetName(), err)
		}
		s.controllers = append(s.controllers, c)
	}
	return nil
}

func (s *StandIn) connect(ctx context.Context, config *rest.Config) (err error) {
	if s.api, err = rest.HTTPClientFor(config); err != nil {
		return fmt.Errorf("making HTTP client: %w", err)
	}
	if s.client, err = dynamic.NewForConfigAndClient(config, s.api); err != nil {
		return fmt.Errorf("making client: %w", err)
	}
	kindsClient, err := discovery.NewDiscoveryClientForConfigAndClient(config, s.api)
	if err != nil {
		return fmt.Errorf("making discovery client: %w", err)
	}
	if s.events, err = newEvents(ctx, config, s.api); err != nil {
		return err
	}
	s.kinds = newKinds(kindsClient)
	s.informers = newInformers(ctx, s.client, s.log)
	s.hooks = newHookClient()
	s.applier = &dynamicApply{s}
	if s.options.Strategy == ServerSideApply {
		s.applier = newServerSideApply(s)
	}
	return nil
}

// Stop ends all work and waits for it.
func (s *StandIn) Stop() {
	s.stop.Do(func() {
		s.cancel()
		for _, c := range s.controllers {
			c.queue.ShutDown()
		}
		s.work.Wait()
		if s.informers != nil {
			s.informers.wait()
		}
		if s.events != nil {
			s.events.stop()
		}
		if s.hooks != nil {
			s.hooks.CloseIdleConnections()
		}
		if s.api != nil {
			utilnet.CloseIdleConnectionsFor(s.api.Transport)
		}
	})
}

// resource gives the client for objects of the kind in that namespace.
func (s *StandIn) resource(k *kind, namespace string) dynamic.ResourceInterface {
	client := s.client.Resource(k.gvr)
	if !k.Namespaced {
		return client
	}
	return client.Namespace(namespace)
}

// client gives the client for the object.
func (s *StandIn) clientOf(k *kind, object *unstructured.Unstructured) dynamic.ResourceInterface {
	return s.resource(k, object.GetNamespace())
}
