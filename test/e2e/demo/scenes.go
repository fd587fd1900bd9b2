package main

import (
	"context"
	"fmt"
)

// Addresses of the two LoadBalancers, from a range for documentation.
const (
	addressTCP = "203.0.113.7"
	addressUDP = "203.0.113.8"
)

// where kubectl finds the message of a condition.
func message(condition string) string {
	return `-o=jsonpath={.status.conditions[?(@.type=="` + condition + `")].message}`
}

// examples applies the folder of examples.
func (d *demo) examples(ctx context.Context) error {
	d.story.title("A class, and TCPIngresses")
	d.story.say("The platform admin makes a class for an ingress-nginx in the namespace of that name. App teams apply\n" +
		"TCPIngresses; the Service `game` has none, but an annotation that becomes two. All of them are the examples.")
	if err := d.kubectl(ctx, `namespace/ingress-nginx created`, "create", "namespace", "ingress-nginx"); err != nil {
		return err
	}
	if err := d.kubectl(ctx, `
		tcpingressclass\.nginx-stream\.dev/nginx created
		tcpingress\.nginx-stream\.dev/dns created
		tcpingress\.nginx-stream\.dev/ftp created
		tcpingress\.nginx-stream\.dev/mqtt created
		tcpingress\.nginx-stream\.dev/postgres created
		tcpingress\.nginx-stream\.dev/redis created
		service/game created`, "apply", "-f", "manifests/examples"); err != nil {
		return err
	}
	return d.condition(ctx, "demo/redis", "Programmed=False/AddressPending")
}

// addresses plays the cloud, and the kubelet.
func (d *demo) addresses(ctx context.Context) error {
	d.story.say("The ports are given, and nginx would forward them already. Clients have no address yet, and the status says so:")
	if err := d.kubectl(ctx, `redis +nginx +6379 +False +\S+ +AddressPending`, "get", "tcpingress", "-n", "demo", "redis", "-o", "wide"); err != nil {
		return err
	}
	d.story.say("There is no cloud here, so the demo plays it: it writes addresses into the status of both LoadBalancer\n" +
		"Services, one for TCP and one for UDP. It plays the Pods of redis too, by an EndpointSlice.")
	for _, service := range []struct{ name, address string }{{"nginx-stream-tcp", addressTCP}, {"nginx-stream-udp", addressUDP}} {
		patch := `{"status":{"loadBalancer":{"ingress":[{"ip":"` + service.address + `"}]}}}`
		if err := d.exists(ctx, service.name); err != nil {
			return err
		}
		if err := d.kubectl(ctx, "service/"+service.name+" patched",
			"patch", "service", "-n", "ingress-nginx", service.name, "--subresource=status", "--type=merge", "-p", patch); err != nil {
			return err
		}
	}
	return d.kubectl(ctx, `endpointslice\.discovery\.k8s\.io/redis-demo created`, "apply", "-f", folder+"/endpoints.yaml")
}

// everybody shows all TCPIngresses at work.
func (d *demo) everybody(ctx context.Context) error {
	d.story.title("What app teams see")
	d.story.say("CLASS judged, PORTS are held, ADDRESS is where clients connect to (the first one: `dns` has one for UDP\n" +
		"too). `mqtt` asked for no number and got one from the class's pool; `game` and `game-udp` come from the annotation\n" +
		"of a Service.")
	for _, name := range []string{"dns", "ftp", "game", "game-udp", "mqtt", "postgres", "redis"} {
		if err := d.condition(ctx, "demo/"+name, "Ready=True/Ready"); err != nil {
			return err
		}
	}
	if err := d.condition(ctx, "demo/redis", "BackendsReady=True/EndpointsReady"); err != nil {
		return err
	}
	if err := d.kubectl(ctx, `
		demo +dns +nginx +53,53/UDP +203\.0\.113\.7\S* +True .*
		demo +ftp +nginx +21,21000-21004 +203\.0\.113\.7 +True .*
		demo +game +nginx +8900,25565 +203\.0\.113\.7 +True .*
		demo +game-udp +nginx +19132/UDP +203\.0\.113\.8 +True .*
		demo +mqtt +nginx +20000 +203\.0\.113\.7 +True .*
		demo +postgres +nginx +5432 +203\.0\.113\.7 +True .*
		demo +redis +nginx +6379 +203\.0\.113\.7 +True .*`, "get", "tcpingress", "-A"); err != nil {
		return err
	}
	d.story.say("Everything that a status knows is a condition with a sentence:")
	return d.kubectl(ctx, `
		Accepted=True: .+\.
		ResolvedRefs=True: .+\.
		BackendsReady=True: .+\.
		Programmed=True: .+\.
		Ready=True: .+\.`, "get", "tcpingress", "-n", "demo", "redis",
		`-o=jsonpath={range .status.conditions[*]}{.type}={.status}: {.message}{"\n"}{end}`)
}

// class shows what the platform admin sees.
func (d *demo) class(ctx context.Context) error {
	d.story.title("What the platform admin sees")
	d.story.say("The class keeps the book of who holds which port.")
	if err := d.kubectl(ctx, `nginx +.*203\.0\.113\.7.*`, "get", "tcpingressclass"); err != nil {
		return err
	}
	return d.kubectl(ctx, `
		5432/TCP +demo/postgres/primary
		53/TCP +demo/dns/tcp-53
		53/UDP +demo/dns/udp-53
		6379/TCP +demo/redis/tcp-6379`, "get", "tcpingressclass", "nginx",
		`-o=go-template={{range $port, $holder := .status.listeners}}{{printf "%-10s %s\n" $port $holder}}{{end}}`)
}

// secondClaim lets another team ask for a port that is held.
func (d *demo) secondClaim(ctx context.Context) error {
	d.story.title("A second claim of a port is refused")
	d.story.say("Another team asks for 6379, which works for demo/redis.")
	if err := d.kubectl(ctx, `namespace/games created`, "create", "namespace", "games"); err != nil {
		return err
	}
	if out, err := d.show(ctx, "second-claim.yaml"); err != nil {
		d.refused = true
		d.story.say("It is refused at once, by name of the holder, and is not stored.")
		return holds(out, `.*6379.*demo/redis.*`)
	}
	if err := d.condition(ctx, "games/cache", "Accepted=False/PortConflict"); err != nil {
		return err
	}
	d.story.say("It is stored, and waits. The message names the holder and the ways out:")
	if err := d.kubectl(ctx, `cache +nginx +6379 +(203\.0\.113\.7 +)?False +\S+ +PortConflict`, "get", "tcpingress", "-n", "games", "-o", "wide"); err != nil {
		return err
	}
	if err := d.kubectl(ctx, `.*6379.*demo/redis.*`, "get", "tcpingress", "-n", "games", "cache", message("Accepted")); err != nil {
		return err
	}
	d.story.say("A port that works is never taken away by a newcomer:")
	return d.kubectl(ctx, `redis +nginx +6379 +203\.0\.113\.7 +True .*`, "get", "tcpingress", "-n", "demo", "redis")
}

// lateBackend applies a TCPIngress before its Service.
func (d *demo) lateBackend(ctx context.Context) error {
	d.story.title("A backend that comes late")
	d.story.say("The order of `kubectl apply` does not matter. This TCPIngress comes before its Service:")
	if out, err := d.show(ctx, "late.yaml"); err != nil {
		return fmt.Errorf("applying late.yaml: %w: %s", err, out)
	}
	if err := d.condition(ctx, "demo/mail", "ResolvedRefs=False/ServiceNotFound"); err != nil {
		return err
	}
	if err := d.kubectl(ctx, `.*Service.*mail.*`, "get", "tcpingress", "-n", "demo", "mail", message("ResolvedRefs")); err != nil {
		return err
	}
	if out, err := d.show(ctx, "late-service.yaml"); err != nil {
		return fmt.Errorf("applying late-service.yaml: %w: %s", err, out)
	}
	if err := d.kubectl(ctx, `tcpingress\.nginx-stream\.dev/mail condition met`,
		"wait", "tcpingress", "-n", "demo", "mail", "--for=condition=Ready", "--timeout=60s"); err != nil {
		return err
	}
	return d.kubectl(ctx, `mail +nginx +2525 +203\.0\.113\.7 +True .*`, "get", "tcpingress", "-n", "demo", "mail")
}

// children shows what the class owns.
func (d *demo) children(ctx context.Context) error {
	d.story.title("What comes of it: ConfigMaps and Services")
	d.story.say("ingress-nginx reads the ConfigMaps: external number, then namespace/service:port, by number or name.")
	if err := d.kubectl(ctx, `
		"21": demo/ftp:control
		"21004": demo/ftp:21004
		"2525": demo/mail:smtp
		"5432": demo/postgres:sql
		"6379": demo/redis:6379
		"20000": demo/mqtt:mqtt
		"25565": demo/game:25565`, "get", "configmap", "-n", "ingress-nginx", "tcp-services",
		`-o=go-template={{range $port, $backend := .data}}{{printf "%q: %s\n" $port $backend}}{{end}}`); err != nil {
		return err
	}
	d.story.say("The Services carry the same ports, so that the load balancer opens them:")
	return d.kubectl(ctx, `
		nginx-stream-tcp +LoadBalancer +203\.0\.113\.7 +(\d+,)*2525(,\d+)*
		nginx-stream-tcp +LoadBalancer +203\.0\.113\.7 +(\d+,)*6379(,\d+)*
		nginx-stream-udp +LoadBalancer +203\.0\.113\.8 +(\d+,)*53(,\d+)*`, "get", "service", "-n", "ingress-nginx",
		"-o=custom-columns=NAME:.metadata.name,TYPE:.spec.type,ADDRESS:.status.loadBalancer.ingress[*].ip,PORTS:.spec.ports[*].port")
}

// takeover lets the holder go.
func (d *demo) takeover(ctx context.Context) error {
	d.story.title("The holder goes, the next in line takes over")
	d.story.say("demo/redis is deleted.")
	if err := d.kubectl(ctx, `tcpingress.*"redis" deleted.*`, "delete", "tcpingress", "-n", "demo", "redis"); err != nil {
		return err
	}
	if err := d.handedOn(ctx, "6379/TCP"); err != nil {
		return err
	}
	if d.refused {
		d.story.say("The other team tries again:")
		if err := d.kubectl(ctx, `tcpingress\.nginx-stream\.dev/cache created`, "apply", "-f", folder+"/second-claim.yaml"); err != nil {
			return err
		}
	} else {
		d.story.say("The other team has nothing to do:")
	}
	if err := d.kubectl(ctx, `tcpingress\.nginx-stream\.dev/cache condition met`,
		"wait", "tcpingress", "-n", "games", "cache", "--for=condition=Ready", "--timeout=60s"); err != nil {
		return err
	}
	return d.kubectl(ctx, `cache +nginx +6379 +203\.0\.113\.7 +True .*`, "get", "tcpingress", "-n", "games")
}
