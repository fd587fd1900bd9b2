package cli

import (
	"fmt"
	"io"
	"log/slog"
)

// Values of --log-format.
const (
	logText = "text"
	logJSON = "json"
)

// newLogger makes the logger that --log-level and --log-format ask for.
func newLogger(w io.Writer, levelName, format string) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(levelName)); err != nil {
		return nil, fmt.Errorf("--log-level must be debug, info, warn or error, and is %q", levelName)
	}
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case logText:
		return slog.New(slog.NewTextHandler(w, options)), nil
	case logJSON:
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, fmt.Errorf("--log-format must be text or json, and is %q", format)
	}
}
