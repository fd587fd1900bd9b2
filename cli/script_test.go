package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	program := func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		os.Exit(Run(ctx, os.Args, Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	testscript.Main(m, map[string]func(){
		"tcpingress":         program,
		"kubectl-tcpingress": program,
		"http":               func() { os.Exit(httpProgram(os.Args[1:])) },
		"certificate":        func() { os.Exit(certificateProgram(os.Args[1:])) },
	})
}

// TestScripts runs testdata/script. Beside the usual commands, scripts have
// "freeport VARIABLE", and the programs "http METHOD URL [FILE]", which trusts the
// certificates in $CA and sends the token in $TOKEN, and "certificate FILE KEYFILE".
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"freeport": func(ts *testscript.TestScript, _ bool, args []string) {
				listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
				ts.Check(err)
				_, port, err := net.SplitHostPort(listener.Addr().String())
				ts.Check(err)
				ts.Check(listener.Close())
				ts.Setenv(args[0], port)
			},
		},
	})
}

// httpProgram sends a request, waits for a server that is about to listen, and
// prints the code and the body.
func httpProgram(args []string) int {
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		code, body, err := send(args)
		if err == nil {
			_, err = fmt.Fprintf(os.Stdout, "%d %s\n", code, body)
		}
		if err == nil {
			return 0
		}
		if time.Since(begin) > 30*time.Second {
			_, _ = fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
}

func send(args []string) (code int, body string, err error) {
	var text []byte
	if len(args) > 2 {
		if text, err = os.ReadFile(args[2]); err != nil {
			return 0, "", err
		}
	}
	r, err := http.NewRequestWithContext(context.Background(), args[0], args[1], strings.NewReader(string(text)))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("TOKEN"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	client, err := trusting(os.Getenv("CA"))
	if err != nil {
		return 0, "", err
	}
	got, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	b, err := io.ReadAll(got.Body)
	return got.StatusCode, string(b), errors.Join(err, got.Body.Close())
}
