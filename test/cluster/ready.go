package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// await returns when url answers 200 and what it answers contains want. It gives up when any process of the cluster ends: the one that answers could then be a stranger on our port.
func (c *Cluster) await(ctx context.Context, name, url, want string) error {
	for {
		err := c.ask(ctx, url, want)
		for _, p := range c.snapshot() {
			if !p.running() {
				return p.exited()
			}
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s to be ready: %w; the last answer: %w; the logs:\n%s", name, context.Cause(ctx), err, c.Logs(10))
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// ask requests url once.
func (c *Cluster) ask(ctx context.Context, url, want string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 16<<10))
	if err != nil {
		return fmt.Errorf("reading what %s answers: %w", url, err)
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
		return fmt.Errorf("%s answers %s: %s", url, response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}
