package main

import (
	"context"
	"errors"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// show tells the whole story on the printer.
func show(ctx context.Context, out printer, now time.Time) (err error) {
	server, err := start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	out.title("The hooks run")
	out.line("%s", server.command())

	cluster, err := newCluster(ctx, server, out, now)
	if err != nil {
		return err
	}
	out.title("The platform admin and the app team apply an example")
	for _, file := range []string{"0-namespace.yaml", "class-ingress-nginx.yaml", "redis.yaml"} {
		out.line("kubectl apply -f manifests/examples/%s", file)
		objects, err := readExample(file)
		if err != nil {
			return err
		}
		if err := cluster.Put(objects...); err != nil {
			return err
		}
	}
	out.title("Metacontroller calls the hooks until nothing changes any more")
	if _, err := cluster.Settle(); err != nil {
		return err
	}
	if err := playOthers(cluster, out); err != nil {
		return err
	}
	out.title("Metacontroller sees that, and calls again")
	if _, err := cluster.Settle(); err != nil {
		return err
	}
	out.title("What is in the cluster now")
	return printResult(cluster, out)
}

// playOthers does what other controllers of a cluster would do.
func playOthers(cluster *simulate.Cluster, out printer) error {
	out.title("Others do their part (made up here)")
	out.line("a pod behind Service demo/redis becomes ready")
	if err := cluster.Put(readyEndpoint()); err != nil {
		return err
	}
	service := cluster.Get("v1", "Service", "ingress-nginx", "nginx-stream-tcp")
	if service == nil {
		return errors.New("the hooks made no Service ingress-nginx/nginx-stream-tcp")
	}
	out.line("the cloud gives Service ingress-nginx/nginx-stream-tcp the address %s", address)
	return cluster.Put(withAddress(service))
}

func printResult(cluster *simulate.Cluster, out printer) error {
	for _, o := range []struct{ apiVersion, kind, namespace, name string }{
		{"v1", "ConfigMap", "ingress-nginx", "tcp-services"},
		{"v1", "Service", "ingress-nginx", "nginx-stream-tcp"},
		{ours, "TCPIngressClass", "", "nginx"},
		{ours, "TCPIngress", "demo", "redis"},
	} {
		object := cluster.Get(o.apiVersion, o.kind, o.namespace, o.name)
		if object == nil {
			return errors.New("the hooks made no " + o.kind + " " + o.name)
		}
		if err := out.object(object); err != nil {
			return err
		}
	}
	return nil
}
