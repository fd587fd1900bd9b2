package server

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"
)

// handle makes the handler of a call: it answers, then counts and logs.
func (s *Server) handle(to call) echo.HandlerFunc {
	return func(c echo.Context) error {
		begin := time.Now()
		o := outcome{path: to.path, code: http.StatusOK}
		var answer []byte
		var err error
		switch err = to.admit(c.Request()); {
		case err != nil:
		case s.enter(c.Request().Context(), &to):
			answer, err = s.answer(c, &to, &o)
			s.leave(&to)
		default:
			err = &problem{code: http.StatusTooManyRequests, text: "too many calls are running, try again in a second"}
		}
		if err != nil {
			p := problemOf(err)
			o.code, o.problem = p.code, p
			o.undelivered = p.write(c)
		} else {
			o.undelivered = c.JSONBlob(http.StatusOK, answer)
		}
		o.duration = time.Since(begin)
		s.metrics.observe(&o)
		s.log(c.Request().Context(), &to, &o)
		return nil
	}
}

// enter takes a slot if there is one, or will be one soon enough.
func (s *Server) enter(ctx context.Context, to *call) bool {
	select {
	case to.slots <- struct{}{}:
		s.metrics.inFlight.Inc()
		return true
	default:
	}
	if to.patience == 0 {
		return false
	}
	timer := time.NewTimer(to.patience)
	defer timer.Stop()
	select {
	case to.slots <- struct{}{}:
		s.metrics.inFlight.Inc()
		return true
	case <-ctx.Done():
		return false
	case <-timer.C:
		return false
	}
}

func (s *Server) leave(to *call) {
	s.metrics.inFlight.Dec()
	<-to.slots
}

func (s *Server) answer(c echo.Context, to *call, o *outcome) (answer []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &problem{
				code:  http.StatusInternalServerError,
				text:  "the hook crashed, and the server's log tells where",
				cause: fmt.Errorf("panic: %v", r),
				stack: string(debug.Stack()),
			}
		}
	}()
	if err := checkContentType(c.Request()); err != nil {
		return nil, err
	}
	o.body, err = readBody(c.Response().Writer, c.Request(), to.limit)
	if err != nil {
		return nil, err
	}
	return to.serve(o.body, time.Now())
}

func checkContentType(r *http.Request) error {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	if err != nil || mediaType != echo.MIMEApplicationJSON {
		return &problem{code: http.StatusUnsupportedMediaType, text: "the content type must be application/json"}
	}
	if encoding := r.Header.Get(echo.HeaderContentEncoding); encoding != "" && encoding != "identity" {
		return &problem{code: http.StatusUnsupportedMediaType, text: "the body must not be compressed"}
	}
	return nil
}
