package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// What the controller needs of its own image: nginx is played by a script, since what
// counts here is the configuration that it is given.
const (
	playedNginx = `#!/bin/sh
case "$*" in
*" -t"*|*" -s "*|*"-v"*) exit 0 ;;
esac
# The controller gives it a process group of its own, so it looks for itself.
while kill -0 "$PPID"; do sleep 1; done
`
	// ownEtc puts a folder in the place of /etc, for this process only.
	ownEtc = `set -e
mount --bind "$OWN_ETC" /etc
exec "$@"
`
)

// The real consumer of the ConfigMaps: INGRESS_NGINX_BIN is its binary, and
// INGRESS_NGINX_TEMPLATE the file nginx.tmpl that belongs to it. Its configuration must
// have exactly our listeners, also after an edit.
func TestIngressNginxRendersOurListeners(t *testing.T) {
	binary, template := os.Getenv("INGRESS_NGINX_BIN"), os.Getenv("INGRESS_NGINX_TEMPLATE")
	if binary == "" {
		t.Skip("INGRESS_NGINX_BIN is not set: that the real ingress-nginx renders exactly our listeners is not tested in this run")
	}
	require.NotEmpty(t, template, "INGRESS_NGINX_TEMPLATE must be the nginx.tmpl that belongs to INGRESS_NGINX_BIN")
	t.Parallel()
	s := newScene(t).nginxClass().
		backend("a/redis", "redis=6379", "sentinel=26379").backend("b/dns", "tcp=53", "udp=53/UDP").
		ingress("a/redis", "6379 -> redis:6379", "16379 -> redis:sentinel").
		ingress("b/dns", "53 -> dns:53", "53/UDP -> dns:53").
		ready("a/redis", "b/dns")
	status, stream := freePort(t), freePort(t)
	config := s.ingressNginx(binary, template, "--status-port="+status, "--stream-port="+stream)
	s.renders(config, map[string]string{
		"6379/TCP": "tcp-$a-redis-6379", "16379/TCP": "tcp-$a-redis-sentinel", "53/TCP": "tcp-$b-dns-53", "53/UDP": "udp-$b-dns-53",
	})
	// It tells its nginx about endpoints before it looks at anything else.
	s.hearEndpoints(status, stream)
	// A port moves, one goes, and a refused one does not come.
	s.ingress("a/redis", "6380 -> redis:6379", "443 -> redis:6379").
		renders(config, map[string]string{"6380/TCP": "tcp-$a-redis-6379", "53/TCP": "tcp-$b-dns-53", "53/UDP": "udp-$b-dns-53"})
}

// ingressNginx starts the controller for the class's namespace, and gives the path of
// the configuration that it writes.
func (s *scene) ingressNginx(binary, template string, flags ...string) (config string) {
	s.t.Helper()
	dir := s.t.TempDir()
	etc := filepath.Join(dir, "etc")
	for _, folder := range []string{"etc/nginx/template", "etc/nginx/lua", "etc/ingress-controller/ssl", "etc/ingress-controller/auth", "etc/ingress-controller/geoip", "etc/ingress-controller/telemetry", "tmp/nginx"} {
		require.NoError(s.t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	text, err := os.ReadFile(template)
	require.NoError(s.t, err)
	for name, content := range map[string]string{
		"etc/nginx/template/nginx.tmpl": string(text), "etc/nginx/nginx.conf": "", "etc/nginx/opentelemetry.toml": "",
		"etc/hosts": "127.0.0.1 localhost\n", "etc/resolv.conf": "nameserver 127.0.0.1\n", "etc/passwd": "root:x:0:0::/:/bin/sh\n",
	} {
		require.NoError(s.t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	nginx := filepath.Join(dir, "nginx")
	require.NoError(s.t, os.WriteFile(nginx, []byte(playedNginx), 0o700)) //nolint:gosec // it is run
	// The controller looks for the pod that it is.
	s.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: $nginx, name: default}}").
		apply("{apiVersion: v1, kind: Pod, metadata: {namespace: $nginx, name: controller, labels: {app: controller}}, spec: {containers: [{name: controller, image: none}]}}")

	namespace := s.namespace("nginx")
	log, err := os.Create(filepath.Join(dir, "controller.log"))
	require.NoError(s.t, err)
	flags = append([]string{
		"--mount", "--map-root-user", "sh", "-c", ownEtc, "sh", binary,
		"--kubeconfig=" + h.Cluster.KubeconfigPath(), "--update-status=false", "--disable-leader-election",
		"--tcp-services-configmap=" + namespace + "/tcp-services", "--udp-services-configmap=" + namespace + "/udp-services",
		"--http-port=" + freePort(s.t), "--https-port=" + freePort(s.t), "--default-server-port=" + freePort(s.t), "--ssl-passthrough-proxy-port=" + freePort(s.t),
		"--healthz-port=" + freePort(s.t), "--profiler-port=" + freePort(s.t), "--enable-metrics=false",
	}, flags...)
	command := exec.CommandContext(s.t.Context(), "unshare", flags...)
	command.Env = append(os.Environ(), "OWN_ETC="+etc, "TMPDIR="+filepath.Join(dir, "tmp"), "NGINX_BINARY="+nginx,
		"POD_NAMESPACE="+namespace, "POD_NAME=controller")
	command.Stdout, command.Stderr = log, log
	// Its children go with it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	require.NoError(s.t, command.Start())
	s.t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		_ = command.Wait()
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && s.t.Failed() {
			s.t.Logf("the controller says:\n%s", text)
		}
	})
	return filepath.Join(etc, "nginx", "nginx.conf")
}

// hearEndpoints listens where the controller expects the Lua part of its nginx. It does
// so late, because the controller starts on free ports only.
func (s *scene) hearEndpoints(status, stream string) {
	s.t.Helper()
	web, err := net.Listen("tcp", "127.0.0.1:"+status) //nolint:noctx // it is closed with the test
	require.NoError(s.t, err)
	server := &http.Server{ReadHeaderTimeout: deadline, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
	})}
	go func() { _ = server.Serve(web) }()
	raw, err := net.Listen("tcp", "127.0.0.1:"+stream) //nolint:noctx // it is closed with the test
	require.NoError(s.t, err)
	go func() {
		for {
			connection, err := raw.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, connection)
			_ = connection.Close()
		}
	}()
	s.t.Cleanup(func() { _, _ = server.Close(), raw.Close() })
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // it is one
}

// renders waits until the stream servers of the configuration are these: the upstream
// of each by its port.
func (s *scene) renders(config string, want map[string]string) {
	s.t.Helper()
	for port, upstream := range want {
		want[port] = s.expand(upstream)
	}
	s.eventually(func() error {
		text, err := os.ReadFile(config)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, streamServers(string(text))); diff != "" {
			return fmt.Errorf("the listeners of ingress-nginx are not ours (-want +got):\n%s", diff)
		}
		return nil
	})
}

// streamServers reads what ingress-nginx serves for its two ConfigMaps.
func streamServers(config string) map[string]string {
	_, stream, _ := strings.Cut(config, "# TCP services")
	servers := make(map[string]string)
	listen := regexp.MustCompile(`(?m)^\s*listen\s+(\d+)( udp)?`)
	upstream := regexp.MustCompile(`proxy_upstream_name="((?:tcp|udp)-[^"]+)"`)
	for _, block := range strings.Split(stream, "server {")[1:] {
		name := upstream.FindStringSubmatch(block)
		for _, m := range listen.FindAllStringSubmatch(block, -1) {
			protocol := "TCP"
			if m[2] != "" {
				protocol = "UDP"
			}
			servers[m[1]+"/"+protocol] = ""
			if name != nil {
				servers[m[1]+"/"+protocol] = name[1]
			}
		}
	}
	return servers
}
