package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/labstack/echo/v4"

	"github.com/nginx-stream/tcpingress/hooks/admission"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// maxText bounds the sentence of an error body, which ends up in an Event.
const maxText = 900

// problem is an answer other than 200. Its text is all that the caller sees.
type problem struct {
	code int
	text string
	// cause and stack are for the log.
	cause error
	stack string
}

// Error implements error.
func (p *problem) Error() string {
	if p.cause == nil {
		return p.text
	}
	return p.text + ": " + p.cause.Error()
}

// Unwrap gives the cause.
func (p *problem) Unwrap() error { return p.cause }

// problemOf chooses the code for an error of a hook, or of echo.
func problemOf(err error) *problem {
	var (
		p     *problem
		bad   *metacontroller.BadRequest
		odd   *admission.BadRequest
		route *echo.HTTPError
	)
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &bad):
		return &problem{code: http.StatusBadRequest, text: bad.Problem}
	case errors.As(err, &odd):
		return &problem{code: http.StatusBadRequest, text: odd.Problem}
	case errors.As(err, &route):
		return &problem{code: route.Code, text: fmt.Sprint(route.Message)}
	default:
		return &problem{code: http.StatusInternalServerError, text: err.Error()}
	}
}

// write answers with one plain sentence.
func (p *problem) write(c echo.Context) error {
	header := c.Response().Header()
	header.Set(echo.HeaderXContentTypeOptions, "nosniff")
	switch p.code {
	case http.StatusTooManyRequests:
		header.Set(echo.HeaderRetryAfter, "1")
	case http.StatusUnauthorized:
		header.Set(echo.HeaderWWWAuthenticate, "Bearer")
		// Else net/http would read the body in order to keep the connection.
		header.Set(echo.HeaderConnection, "close")
	}
	return c.String(p.code, sentence(p.text))
}

func sentence(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	return text
}

// handleError answers what does not belong to a hook.
func (s *Server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := problemOf(err)
	switch p.code {
	case http.StatusNotFound:
		p = &problem{code: p.code, text: "there is nothing at this path"}
	case http.StatusMethodNotAllowed:
		p = &problem{code: p.code, text: "this path accepts only the method " + c.Response().Header().Get(echo.HeaderAllow)}
	}
	if err := p.write(c); err != nil {
		s.options.Logger.Debug("answer not delivered", "path", sentence(c.Request().URL.Path), "error", err)
	}
}
