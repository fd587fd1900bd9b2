package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// kubectl shows a command of the admin and what it prints. Every line of want is a
// regular expression that some line of that must match.
func (d *demo) kubectl(ctx context.Context, want string, args ...string) error {
	out, err := d.typed(ctx, d.h, args...)
	if err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return holds(out, want)
}

// typed shows a command and what it prints, whether that succeeds or not.
func (d *demo) typed(ctx context.Context, h *harness.Harness, args ...string) (string, error) {
	d.story.command(args...)
	cmd := h.Cluster.Kubectl(ctx, args...)
	cmd.Dir = d.root
	text, err := cmd.CombinedOutput()
	d.story.lines(string(text))
	var failed *exec.ExitError
	if err != nil && (!errors.As(err, &failed) || ctx.Err() != nil) {
		return "", fmt.Errorf("running kubectl: %w", errors.Join(err, ctx.Err()))
	}
	return string(text), err
}

// holds tells whether some line of text matches each line of want.
func holds(text, want string) error {
	for line := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		pattern, err := regexp.Compile("(?m)^" + strings.TrimSpace(line) + "$")
		if err != nil {
			return fmt.Errorf("reading what is expected: %w", err)
		}
		if !pattern.MatchString(text) {
			return fmt.Errorf("no line is like %q in:\n%s", strings.TrimSpace(line), text)
		}
	}
	return nil
}

// show prints a file of our folder and applies it.
func (d *demo) show(ctx context.Context, name string) (string, error) {
	path := folder + "/" + name
	text, err := os.ReadFile(filepath.Join(d.root, path))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	d.story.write("    %s:\n", path)
	d.story.file(string(text))
	return d.typed(ctx, d.h, "apply", "-f", path)
}
