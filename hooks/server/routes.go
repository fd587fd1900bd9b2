package server

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// call is one path that takes a JSON body by POST and gives one.
type call struct {
	path string
	// serve gives the encoded answer.
	serve func(body []byte, now time.Time) ([]byte, error)
	// subject names what the body is about, for the log; "" if it does not tell.
	subject func(body []byte) string
}

func hookCall(h metacontroller.Hook) call {
	return call{
		path: h.Path,
		serve: func(body []byte, now time.Time) ([]byte, error) {
			response, err := h.Serve(body, now)
			if err != nil {
				return nil, err
			}
			return metacontroller.Encode(response)
		},
		subject: metacontroller.PeekParent,
	}
}

func (s *Server) routes(hooks []metacontroller.Hook) error {
	s.echo.HTTPErrorHandler = s.handleError

	get := func(path string, handler echo.HandlerFunc) {
		s.echo.GET(path, handler)
		s.echo.HEAD(path, handler)
	}
	get("/healthz", s.healthz)
	get("/readyz", s.readyz)
	get("/metrics", echo.WrapHandler(s.metrics.handler()))

	taken := map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}
	// A guard that asks for a token belongs on this group.
	calls := s.echo.Group("")
	for _, h := range hooks {
		if err := checkPath(h.Path); err != nil {
			return err
		}
		if taken[h.Path] {
			return fmt.Errorf("the path %s is there twice", h.Path)
		}
		taken[h.Path] = true
		calls.POST(h.Path, s.handle(hookCall(h)))
	}
	return nil
}

func checkPath(path string) error {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, ":*") {
		return fmt.Errorf("the path %q does not start with a slash, or has a colon or an asterisk", path)
	}
	return nil
}

// healthz tells that the process answers, also while it shuts down.
func (s *Server) healthz(c echo.Context) error { return c.String(http.StatusOK, "ok") }

// readyz tells whether new calls should come here.
func (s *Server) readyz(c echo.Context) error {
	if !s.ready.Load() {
		return c.String(http.StatusServiceUnavailable, "the server is shutting down")
	}
	return c.String(http.StatusOK, "ok")
}
