package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker (-X); without that, the module's version counts.
var version string

// build is what "version -o json" prints.
type build struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	Time      string `json:"time,omitempty"`
	Modified  bool   `json:"modified,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// thisBuild tells what this program was built from.
func thisBuild() build {
	b := build{Version: version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, found := debug.ReadBuildInfo()
	if !found {
		info = &debug.BuildInfo{}
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String gives one line for people.
func (b build) String() string {
	text := "tcpingress " + b.Version
	if b.Revision != "" {
		text += " " + b.Revision
	}
	if b.Modified {
		text += " (modified)"
	}
	return fmt.Sprintf("%s %s %s", text, b.GoVersion, b.Platform)
}

type versionOptions struct{ output string }

func (o *versionOptions) validate() error {
	switch o.output {
	case "", outputJSON:
		return nil
	default:
		return fmt.Errorf("-o must be json, or left out for a line of text, and is %q", o.output)
	}
}

func newVersionCommand() *cobra.Command {
	var o versionOptions
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return printVersion(&o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "json; a line of text if left out")
	return cmd
}

func printVersion(o *versionOptions, w io.Writer) error {
	b := thisBuild()
	if o.output != outputJSON {
		_, err := fmt.Fprintln(w, b)
		return err
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding version: %w", err)
	}
	_, err = fmt.Fprintln(w, string(text))
	return err
}
