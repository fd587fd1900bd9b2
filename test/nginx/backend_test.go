package nginx

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
)

// accept serves each connection of a listener on 127.0.0.2 until the test ends, and
// gives it as the backend "test/<name>".
func (e *edge) accept(t *testing.T, name string, serve func(net.Conn)) l4.Backend {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.2:0") //nolint:noctx // it ends at once
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go serveAll(listener, serve)
	return e.known(name, listener.Addr().(*net.TCPAddr).Port)
}

// deaf is a backend whose queue is full: nobody accepts there.
func (e *edge) deaf(t *testing.T, name string) l4.Backend {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(socket) })
	require.NoError(t, syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 2}}))
	require.NoError(t, syscall.Listen(socket, 0))
	address, err := syscall.Getsockname(socket)
	require.NoError(t, err)
	port := address.(*syscall.SockaddrInet4).Port
	// This one fills the queue; the next one is not answered.
	first, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.2:%d", port), patience)
	require.NoError(t, err)
	t.Cleanup(func() { _ = first.Close() })
	return e.known(name, port)
}

func serveAll(listener net.Listener, serve func(net.Conn)) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = connection.Close() }()
			serve(connection)
		}()
	}
}

// known makes the name known to the DNS server as 127.0.0.2.
func (e *edge) known(name string, port int) l4.Backend {
	e.dns.Set("test/"+name, "127.0.0.2")
	return l4.Backend{Namespace: "test", Service: name, Port: int32(port)}
}

// echo answers what it is sent.
func (e *edge) echo(t *testing.T, name string) l4.Backend {
	t.Helper()
	return e.accept(t, name, func(c net.Conn) { _, _ = io.Copy(c, c) })
}

// lines tells the first line that it reads to the channel, and echoes the rest.
func (e *edge) lines(t *testing.T, name string) (l4.Backend, <-chan string) {
	t.Helper()
	seen := make(chan string, 100)
	return e.accept(t, name, func(c net.Conn) {
		reader := bufio.NewReader(c)
		line, err := reader.ReadString('\n')
		if err != nil && line == "" {
			return
		}
		seen <- line
		_, _ = io.Copy(c, reader)
	}), seen
}

// secure greets each TLS client with its own name.
func (e *edge) secure(t *testing.T, name string) l4.Backend {
	t.Helper()
	return e.accept(t, name, greeter(t, name))
}

func greeter(t *testing.T, name string) func(net.Conn) {
	t.Helper()
	certificate := selfSigned(t)
	return func(c net.Conn) {
		server := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
		if _, err := server.Write([]byte(name + "\n")); err == nil {
			_, _ = io.Copy(server, server)
		}
	}
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"test"}}
	encoded, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{encoded}, PrivateKey: key}
}

// greets speaks TLS over the connection, and gives the name of the backend that
// answers, or "" if there is none.
func greets(t *testing.T, connection net.Conn, host string) (string, *tls.Conn) {
	t.Helper()
	client := tls.Client(connection, &tls.Config{ServerName: host, InsecureSkipVerify: true}) //nolint:gosec // it is about the way
	line, err := bufio.NewReaderSize(client, 16).ReadString('\n')
	var timeout net.Error
	if asTimeout(err, &timeout) {
		require.Fail(t, "neither an answer nor an end")
	}
	return strings.TrimSuffix(line, "\n"), client
}

// hello gives the first words of a TLS client.
func hello(t *testing.T, host string) []byte {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tls.Client(client, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}).HandshakeContext(t.Context())
	}()
	words := make([]byte, 16<<10)
	n, err := server.Read(words)
	require.NoError(t, err)
	require.NoError(t, server.Close())
	<-done
	return words[:n]
}

// answers is a UDP server that answers each packet with its text and its sender.
func (e *edge) answers(t *testing.T, name string) l4.Backend {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.2:0") //nolint:noctx // it ends at once
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	go answerAll(server)
	return e.known(name, server.LocalAddr().(*net.UDPAddr).Port)
}

func answerAll(server net.PacketConn) {
	packet := make([]byte, 2048)
	for {
		n, client, err := server.ReadFrom(packet)
		if err != nil {
			return
		}
		_, _ = server.WriteTo([]byte(string(packet[:n])+" from "+client.String()), client)
	}
}

func asTimeout(err error, timeout *net.Error) bool {
	return errors.As(err, timeout) && (*timeout).Timeout()
}

func readFull(r io.Reader, into []byte) (int, error) { return io.ReadFull(r, into) }

// observe gives the ConfigMaps as the API server would give them.
func observe(p *nginx.Provider, table l4.Table) []corev1.ConfigMap {
	var observed []corev1.ConfigMap
	for _, applied := range p.ConfigMaps(table) {
		var cm corev1.ConfigMap
		cm.Name, cm.Namespace, cm.Data = *applied.Name, *applied.Namespace, applied.Data
		observed = append(observed, cm)
	}
	return observed
}

// readLine reads a line, and nothing behind it.
func readLine(c net.Conn) string {
	var line []byte
	for one := make([]byte, 1); len(line) == 0 || line[len(line)-1] != '\n'; {
		if _, err := io.ReadFull(c, one); err != nil {
			break
		}
		line = append(line, one[0])
	}
	return string(line)
}
