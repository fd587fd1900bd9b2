package server

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/nginx-stream/tcpingress/hooks/admission"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// A review takes less than a millisecond, so that few at a time are enough, and what
// they need of memory stays small. The API server waits 5 seconds.
const (
	maxReviews = 4
	maxWait    = 4 * time.Second
)

// call is one path that takes a JSON body by POST and gives one.
type call struct {
	path string
	// serve gives the encoded answer.
	serve func(body []byte, now time.Time) ([]byte, error)
	// subject names what the body is about, for the log; "" if it does not tell.
	subject func(body []byte) string
	// admit refuses a caller before anything of the body is read.
	admit func(r *http.Request) error
	// slots has an element per running call, and patience is how long a call waits
	// for one. Hooks share theirs, and do not wait: Metacontroller comes back.
	// Admission has its own, and waits: its caller would give up.
	slots    chan struct{}
	patience time.Duration
	limit    bodyLimit
}

func (s *Server) hookCall(h metacontroller.Hook) call {
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
		admit:   s.guard.check,
		slots:   s.hookSlots,
		limit:   bodyLimit{bytes: s.options.MaxBody, remedy: ", which --max-body can raise"},
	}
}

// reviewCall makes a call of an admission hook. Who may call it is not asked: the
// API server has no token of ours, and the answer tells nothing but what a file of
// the caller's own deserves.
func (s *Server) reviewCall(h admission.Hook) call {
	return call{
		path:     h.Path,
		serve:    func(body []byte, _ time.Time) ([]byte, error) { return h.Serve(body) },
		subject:  admission.Peek,
		admit:    func(*http.Request) error { return nil },
		slots:    s.reviewSlots,
		patience: maxWait,
		limit:    bodyLimit{bytes: maxReview},
	}
}

func (s *Server) routes(hooks []metacontroller.Hook, reviews []admission.Hook) error {
	s.echo.HTTPErrorHandler = s.handleError

	get := func(path string, handler echo.HandlerFunc) {
		s.echo.GET(path, handler)
		s.echo.HEAD(path, handler)
	}
	get("/healthz", s.healthz)
	get("/readyz", s.readyz)
	get("/metrics", echo.WrapHandler(s.metrics.handler()))

	calls := make([]call, 0, len(hooks)+len(reviews))
	for _, h := range hooks {
		calls = append(calls, s.hookCall(h))
	}
	for _, h := range reviews {
		calls = append(calls, s.reviewCall(h))
	}
	taken := map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}
	for _, to := range calls {
		if err := checkPath(to.path); err != nil {
			return err
		}
		if taken[to.path] {
			return fmt.Errorf("the path %s is there twice", to.path)
		}
		taken[to.path] = true
		s.echo.POST(to.path, s.handle(to))
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
