package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// tries is how often nginx is started when somebody took one of its ports.
const tries = 3

// nginx is an installed one that can forward streams.
type nginx struct {
	path   string
	module string // file of the stream module, empty if it is built in
}

// findNginx tells why there is none.
func findNginx(ctx context.Context) (nginx, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		// Debian has it where the PATH of a user does not lead.
		if path, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			return nginx{}, errors.New("nginx is not installed")
		}
	}
	said, err := exec.CommandContext(ctx, path, "-V").CombinedOutput()
	if err != nil {
		return nginx{}, fmt.Errorf("`%s -V` ends with: %w", path, err)
	}
	return streams(path, string(said))
}

// streams reads what `nginx -V` says of the stream module.
func streams(path, said string) (nginx, error) {
	option := func(name string) (value string, found bool) {
		m := regexp.MustCompile(`(?:^|\s)--` + name + `(?:=(\S+))?(?:\s|$)`).FindStringSubmatch(said)
		if m == nil {
			return "", false
		}
		return m[1], true
	}
	how, found := option("with-stream")
	if found && how == "" {
		return nginx{path: path}, nil
	}
	dir, _ := option("modules-path")
	if dir == "" {
		prefix, _ := option("prefix")
		dir = filepath.Join(prefix, "modules")
	}
	module := filepath.Join(dir, "ngx_stream_module.so")
	if _, err := os.Stat(module); err != nil || !found {
		return nginx{}, errors.New("nginx is installed without its stream module")
	}
	return nginx{path: path, module: module}, nil
}

// traffic sends bytes through a real nginx that is configured from the ConfigMaps.
func (d *demo) traffic(ctx context.Context) error {
	d.story.title("Bytes through nginx")
	found, err := findNginx(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.story.say("Left out: %v. To see it: `apt-get install nginx libnginx-mod-stream` (Debian, Ubuntu), `brew install nginx` (macOS).", err)
		return nil
	}
	d.story.say("A real nginx runs with what the ConfigMaps say, on 127.0.0.1: with the number itself where that is free and\n" +
		"everybody may use it. The demo plays the backends, which answer with their name.")
	list, err := d.entries(ctx)
	if err != nil {
		return err
	}
	if err := d.backends(ctx, list); err != nil {
		return err
	}
	if err := d.startNginx(ctx, found, list); err != nil {
		return err
	}
	for _, f := range list {
		if f.number == 6379 {
			d.story.write("    nginx.conf, among others:\n")
			d.story.file(f.server())
		}
	}
	for _, f := range list {
		if err := d.ping(ctx, f); err != nil {
			return err
		}
	}
	d.story.write("\n")
	return nil
}

// ping sends a line through a port, and reads who answers.
func (d *demo) ping(ctx context.Context, f forward) error {
	port := fmt.Sprintf("%d/%s", f.number, strings.ToUpper(f.network))
	line := "hello on " + port
	back, err := send(ctx, f.network, f.listen, line)
	if err != nil {
		return err
	}
	if want := f.backend + " heard: " + line; back != want {
		return fmt.Errorf("sending through nginx to %s: it answers %q, not %q", port, back, want)
	}
	_, number, _ := strings.Cut(f.listen, ":")
	d.story.write("    %-10s 127.0.0.1:%-6s answers: %s\n", port, number, back)
	return nil
}

// entries reads both ConfigMaps, as ingress-nginx would.
func (d *demo) entries(ctx context.Context) ([]forward, error) {
	var all []forward
	for _, network := range []string{"tcp", "udp"} {
		o, err := d.get(ctx, "", "configmaps", "ingress-nginx", network+"-services")
		if err != nil {
			return nil, fmt.Errorf("reading a ConfigMap: %w", err)
		}
		data, _, err := unstructured.NestedStringMap(o.Object, "data")
		if err != nil {
			return nil, fmt.Errorf("reading a ConfigMap: %w", err)
		}
		list, err := forwards(network, data)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("reading a ConfigMap: %s is empty", o.GetName())
		}
		all = append(all, list...)
	}
	return all, nil
}

// backends starts one for each Service port.
func (d *demo) backends(ctx context.Context, list []forward) error {
	running := map[string]*backend{}
	for i, f := range list {
		if running[f.backend] == nil {
			b, err := newBackend(context.WithoutCancel(ctx), f.backend)
			if err != nil {
				return err
			}
			running[f.backend] = b
			d.ends = append(d.ends, b.close)
		}
		list[i].to = running[f.backend].address()
	}
	return nil
}

// startNginx returns when it listens everywhere.
func (d *demo) startNginx(ctx context.Context, n nginx, list []forward) error {
	var last error
	for range tries {
		if err := place(list); err != nil {
			return err
		}
		config := filepath.Join(d.dir, "nginx.conf")
		if err := os.WriteFile(config, []byte(nginxConfig(n.module, list)), 0o600); err != nil {
			return fmt.Errorf("configuring nginx: %w", err)
		}
		log := filepath.Join(d.dir, "nginx.log")
		p, err := harness.Run(log, n.path, "-p", d.dir, "-c", config, "-e", "stderr", "-g", "error_log stderr;")
		if err != nil {
			return err
		}
		d.ends = append(d.ends, p.Stop)
		if last = listening(ctx, p, list); last == nil {
			return nil
		}
		said, _ := os.ReadFile(log)
		last = fmt.Errorf("starting nginx: %w: %s", last, said)
		if ctx.Err() != nil || !strings.Contains(string(said), "Address already in use") {
			return last
		}
		if err := os.Remove(log); err != nil {
			return fmt.Errorf("starting nginx: %w", err)
		}
	}
	return last
}

// listening waits until nginx takes connections, or has ended.
func listening(ctx context.Context, p *harness.Program, list []forward) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.Done():
			cancel(errors.New("it has ended"))
		case <-ctx.Done():
		}
	}()
	return until(ctx, func(ctx context.Context) error {
		for _, f := range list {
			if f.network == "tcp" {
				conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", f.listen)
				if err != nil {
					return err
				}
				_ = conn.Close()
			}
		}
		return ctx.Err()
	})
}
