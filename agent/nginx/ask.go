package nginx

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// longestAnswer is more than the name of a generation.
const longestAnswer = 256

// Ask reads what the socket of a generation answers.
func Ask(ctx context.Context, socket string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return "", fmt.Errorf("asking nginx for its generation: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return "", fmt.Errorf("asking nginx for its generation: %w", err)
		}
	}
	answer, err := io.ReadAll(io.LimitReader(conn, longestAnswer))
	if err != nil {
		return "", fmt.Errorf("asking nginx for its generation: %w", err)
	}
	return strings.TrimSpace(string(answer)), nil
}
