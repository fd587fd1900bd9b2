package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// defaultTimeout is for a hook whose manifest gives none.
const defaultTimeout = 10 * time.Second

// hook is where a hook is called.
type hook struct {
	path, url string
	timeout   time.Duration
}

// tooManyRequests is the answer 429: the same parent is to be tried again later.
type tooManyRequests struct{ after time.Duration }

func (e *tooManyRequests) Error() string {
	return fmt.Sprintf("the hook is busy and asks to be called again after %s", e.after)
}

func newHookClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConnsPerHost = 100
	return &http.Client{Transport: transport}
}

// readHook gives nil for a missing hook.
func readHook(spec *simulate.HookSpec, base string) (*hook, error) {
	if spec == nil {
		return nil, nil
	}
	if spec.Version != "v2" {
		return nil, fmt.Errorf("version %q is not played, only v2", spec.Version)
	}
	path, err := spec.Path()
	if err != nil {
		return nil, err
	}
	h := &hook{path: path, url: strings.TrimSuffix(base, "/") + path, timeout: defaultTimeout}
	if t := spec.Webhook.Timeout; t != nil && t.Duration > 0 {
		h.timeout = t.Duration
	}
	return h, nil
}

// call posts the request and decodes the response strictly. Every answer but 200 is
// an error, upon which nothing may be changed.
func (s *StandIn) call(ctx context.Context, h *hook, request, response any) error {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encoding request: %w", err)
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("making request: %w", err)
	}
	post.Header.Set("Content-Type", "application/json")
	s.counters.called(h.path)
	answer, err := s.hooks.Do(post)
	if err != nil {
		return fmt.Errorf("calling hook: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode == http.StatusTooManyRequests:
		return &tooManyRequests{retryAfter(answer.Header.Get("Retry-After"))}
	case err != nil:
		return fmt.Errorf("reading answer of hook %s: %w", h.path, err)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("hook %s answered %d: %s", h.path, answer.StatusCode, bytes.TrimSpace(text))
	}
	strict, err := kjson.UnmarshalStrict(text, response)
	if err := errors.Join(append(strict, err)...); err != nil {
		return fmt.Errorf("decoding answer of hook %s: %w", h.path, err)
	}
	return nil
}

// retryAfter reads a number of seconds or a date; anything else is no delay.
func retryAfter(header string) time.Duration {
	if date, err := time.Parse(time.RFC1123, header); err == nil {
		return time.Duration(math.Ceil(time.Until(date).Seconds())) * time.Second
	}
	seconds, _ := strconv.Atoi(header)
	return time.Duration(seconds) * time.Second
}
