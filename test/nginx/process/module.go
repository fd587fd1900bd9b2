package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// StreamModule gives the path of the module that this nginx has to load to serve TCP and
// UDP, "" if it has it built in, as that of the official image does.
func StreamModule(binary string) (string, error) {
	options, err := exec.Command(binary, "-V").CombinedOutput() //nolint:noctx // it ends at once
	if err != nil {
		return "", fmt.Errorf("asking nginx how it was built: %w", err)
	}
	if !strings.Contains(string(options), "--with-stream=dynamic") {
		return "", nil
	}
	for _, dir := range []string{"/usr/lib/nginx/modules", "/usr/share/nginx/modules"} {
		path := filepath.Join(dir, "ngx_stream_module.so")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errors.New("nginx has no stream module, which these tests need; on Debian: apt-get install libnginx-mod-stream")
}
