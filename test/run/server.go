package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// server is a process that serves the hooks.
type server struct {
	process *exec.Cmd
	folder  string
	base    string
	log     bytes.Buffer
}

// start builds the program and runs it on a free port of the loopback interface.
func start(ctx context.Context) (*server, error) {
	folder, err := os.MkdirTemp("", "tcpingress-run-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	s := &server{folder: folder}
	if err := s.run(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *server) run(ctx context.Context) error {
	program := filepath.Join(s.folder, "tcpingress")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/nginx-stream/tcpingress")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w\n%s", err, output)
	}
	listen, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	s.base = "http://" + listen
	s.process = exec.CommandContext(ctx, program, "serve", "--listen="+listen, "--shutdown-delay=0s")
	s.process.Stdout, s.process.Stderr = &s.log, &s.log
	s.process.Cancel = func() error { return s.process.Process.Signal(syscall.SIGTERM) }
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	return s.waitUntilReady(ctx)
}

// freeAddress is free now; nobody is likely to take it before the server does.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	defer listener.Close() //nolint:errcheck // nothing was written
	return listener.Addr().String(), nil
}

func (s *server) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		if _, err := s.do(ctx, http.MethodGet, "/readyz", nil); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w\n%s", ctx.Err(), s.log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *server) command() string {
	return "tcpingress " + strings.Join(s.process.Args[1:], " ")
}

func (s *server) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	return s.do(ctx, http.MethodPost, path, body)
}

func (s *server) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", path, err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s: %s", path, response.Status, answer)
	}
	return answer, nil
}

// stop ends the process as a cluster would, and fails if it does not end well.
func (s *server) stop() error {
	defer os.RemoveAll(s.folder) //nolint:errcheck // it is a temporary folder
	if s.process == nil || s.process.Process == nil {
		return nil
	}
	// It may have ended already, which Wait then tells.
	_ = s.process.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(30*time.Second, func() { _ = s.process.Process.Kill() })
	defer timer.Stop()
	if err := s.process.Wait(); err != nil {
		return fmt.Errorf("stopping the server: %w\n%s", err, s.log.String())
	}
	return nil
}
