package cluster

import (
	"encoding/json"
	"fmt"
	"os"
)

// writeKubeconfig writes a kubeconfig with everything in it, for a client that is known by id. JSON is YAML.
func writeKubeconfig(path, server string, ca []byte, id pair) error {
	type object = map[string]any
	content, err := json.MarshalIndent(object{
		"apiVersion": "v1",
		"kind":       "Config",
		"clusters": []object{{"name": "test", "cluster": object{
			"server":                     server,
			"certificate-authority-data": ca,
		}}},
		"users": []object{{"name": "test", "user": object{
			"client-certificate-data": id.cert,
			"client-key-data":         id.key,
		}}},
		"contexts":        []object{{"name": "test", "context": object{"cluster": "test", "user": "test"}}},
		"current-context": "test",
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding a kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
}
