package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// variableOf gives the environment variable of a flag: TCPINGRESS_MAX_BODY for
// --max-body. No flag may be called port or service-...: in the namespace of a
// Service "tcpingress" the kubelet sets TCPINGRESS_PORT and TCPINGRESS_SERVICE_HOST.
func variableOf(flag string) string {
	return "TCPINGRESS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets the flags that the command line does not.
func fromEnvironment(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed || f.Name == "help" {
			return
		}
		variable := variableOf(f.Name)
		value, found := lookup(variable)
		if !found || value == "" {
			return
		}
		if e := flags.Set(f.Name, value); e != nil {
			err = fmt.Errorf("reading %s: %w", variable, e)
		}
	})
	return err
}
