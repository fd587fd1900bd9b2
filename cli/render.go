package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// Values of -o and --only.
const (
	outputYAML   = "yaml"
	outputJSON   = "json"
	outputTable  = "table"
	onlyChildren = "children"
	onlyStatus   = "status"
)

type renderOptions struct {
	files     []string
	recursive bool
	output    string
	only      string
}

func newRenderCommand() *cobra.Command {
	var o renderOptions
	cmd := &cobra.Command{
		Use:   "render -f FILE|DIR|-",
		Short: "Show what the controllers would make of files, without a cluster",
		Long: `Show what the controllers would make of files, without a cluster.

The files hold any mix of TCPIngresses, TCPIngressClasses, Services,
EndpointSlices, Namespaces and, where there are some already, ConfigMaps and
Services of a class, in YAML or JSON, with Lists. Other kinds are ignored. Beside
its files a TCPIngress needs those of its class.

The hooks run as they are deployed; Metacontroller and the API server are
simulated in memory until nothing changes any more. What other controllers would
add is not invented: a new LoadBalancer Service has no address, so that its rules
are accepted but not programmed yet.

Printed are the children (the internal TCPIngressSlices are left out), then the
classes and the TCPIngresses with their status. Fields that only a cluster can
know are left out: uid, owner, generation, times. An object without a
creationTimestamp counts as the newest, one without a namespace goes to
"default". The same files give the same bytes, in whatever order they come.`,
		Example: `  tcpingress render -f class.yaml -f redis.yaml
  kubectl get tcpingressclass,tcpingress,svc -A -o yaml | tcpingress render -f - -o table`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return render(&o, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fileFlags(cmd, &o.files, &o.recursive)
	cmd.Flags().StringVarP(&o.output, "output", "o", outputYAML, "yaml, json (one v1 List) or table")
	cmd.Flags().StringVar(&o.only, "only", "", "print only the children, or only the objects with their status: children or status")
	return cmd
}

// fileFlags are the flags of every command that reads objects.
func fileFlags(cmd *cobra.Command, files *[]string, recursive *bool) {
	cmd.Flags().StringArrayVarP(files, "filename", "f", nil, "file or folder to read, or - for stdin; may be repeated")
	cmd.Flags().BoolVarP(recursive, "recursive", "R", false, "read folders with the folders in them")
}

func (o *renderOptions) validate() error {
	if err := validateFiles(o.files); err != nil {
		return err
	}
	if !slices.Contains([]string{outputYAML, outputJSON, outputTable}, o.output) {
		return fmt.Errorf("--output %q: use yaml, json or table", o.output)
	}
	if !slices.Contains([]string{"", onlyChildren, onlyStatus}, o.only) {
		return fmt.Errorf("--only %q: use children or status", o.only)
	}
	return nil
}

func validateFiles(files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("say what to read with -f FILE, -f DIR or -f - for stdin")
	}
	return nil
}

func render(o *renderOptions, stdin io.Reader, stdout, stderr io.Writer) error {
	in, err := read(o.files, o.recursive, stdin, stderr)
	if err != nil {
		return err
	}
	if err := errors.Join(in.checkNamed(), checkClasses(in)); err != nil {
		return err
	}
	entries, err := simulated(in)
	if err != nil {
		return err
	}
	if err := checkDefaultClass(in, entries); err != nil {
		return err
	}
	v := newView(in, entries, o.only)
	switch o.output {
	case outputJSON:
		return v.json(stdout)
	case outputTable:
		return v.table(stdout)
	default:
		return v.yaml(stdout)
	}
}

// read reads the files, and tells what in them it ignores. Beside an error it gives what
// could be read.
func read(files []string, recursive bool, stdin io.Reader, stderr io.Writer) (*input, error) {
	l := &loader{kinds: slices.Concat(simulate.CoreKinds(), ourKinds()), stdin: stdin, recursive: recursive}
	in, unread := l.load(files)
	for _, kind := range slices.Sorted(maps.Keys(in.ignored)) {
		if _, err := fmt.Fprintf(stderr, "ignored: %s (%d)\n", kind, in.ignored[kind]); err != nil {
			return nil, err
		}
	}
	return in, unread
}
