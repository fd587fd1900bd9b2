package nginx

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Binary is the nginx that is run to check a configuration: the very one that loads
// it.
type Binary struct {
	// Path is that of nginx, or its name in $PATH.
	Path string
	// Timeout bounds a check.
	Timeout time.Duration
	// Directives are given besides the file, such as "pid /run/nginx.pid;".
	Directives string
}

// RefusedError is that nginx does not accept a configuration.
type RefusedError struct {
	// Line is what nginx says of it.
	Line string
}

func (e *RefusedError) Error() string { return e.Line }

// Check runs "nginx -t". It harms no running nginx: it opens the log files without
// changing them, writes no pid (but makes an empty file if there is none), and binds
// only what is free, for a moment; it leaves a port or socket that is taken as it is,
// and does not complain of it.
func (b Binary) Check(ctx context.Context, config string) error {
	ctx, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	args := []string{"-t", "-q", "-e", "stderr", "-c", config}
	if b.Directives != "" {
		args = append(args, "-g", b.Directives)
	}
	output, err := exec.CommandContext(ctx, b.Path, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("checking configuration: %w", ctx.Err())
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("running nginx: %w", err)
	}
	if line := Complaint(string(output)); line != "" {
		return &RefusedError{Line: line}
	}
	return &RefusedError{Line: "nginx -t: " + exit.Error() + ": " + strings.TrimSpace(string(output))}
}

// gaveUp is what nginx says after it has tried for some seconds to have all its ports.
const gaveUp = "[emerg] still could not bind()"

// Complaint is the first line of nginx's log that is grave enough to keep it from
// starting or reloading, without its time and process; "" for none. The first is the
// cause, later ones follow from it. But where nginx tried several times to have a port,
// those that it got in the end were no cause.
func Complaint(log string) string {
	var all []string
	for line := range strings.Lines(log) {
		complaint := complaintOf(line)
		if complaint == gaveUp && len(all) > 0 {
			return mostFrequent(all)
		}
		if complaint != "" {
			all = append(all, complaint)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// complaintOf gives the line without its time and process, "" if it is not grave.
func complaintOf(line string) string {
	for _, level := range []string{"[emerg] ", "[alert] "} {
		if _, text, found := strings.Cut(line, level); found {
			return level + withoutProcess(strings.TrimSpace(text))
		}
	}
	return ""
}

// mostFrequent gives the first of those that are said most often.
func mostFrequent(complaints []string) string {
	times := map[string]int{}
	for _, c := range complaints {
		times[c]++
	}
	most := complaints[0]
	for _, c := range complaints {
		if times[c] > times[most] {
			most = c
		}
	}
	return most
}

// withoutProcess cuts "12#12: ".
func withoutProcess(text string) string {
	process, rest, ok := strings.Cut(text, ": ")
	if ok && process != "" && strings.Trim(process, "0123456789#") == "" {
		return rest
	}
	return text
}
