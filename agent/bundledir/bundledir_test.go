package bundledir

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

func TestRead(t *testing.T) {
	sums := func(contents ...string) map[string]string {
		files := map[string]string{}
		for i := 0; i < len(contents); i += 2 {
			files[contents[i]] = bundle.Sum(contents[i+1])
		}
		return files
	}
	tests := map[string]struct {
		index      any
		files      map[string]string
		incomplete *IncompleteError
		wantErr    string
	}{
		"everything is there": {
			index: bundle.Index{Files: sums("nginx.conf", "a", "tcp-0.conf", "b")},
			files: map[string]string{"nginx.conf": "a", "tcp-0.conf": "b"},
		},
		"a file that the index does not name is not read": {
			index: bundle.Index{Files: sums("nginx.conf", "a")},
			files: map[string]string{"nginx.conf": "a", "other": "b"},
		},
		"no index":                  {incomplete: &IncompleteError{File: "index.json", Missing: true}},
		"an index without a config": {index: bundle.Index{}, wantErr: "index.json does not name nginx.conf"},
		"an index that is none":     {index: "text", wantErr: "decoding index.json"},
		"a file is missing": {
			index:      bundle.Index{Files: sums("nginx.conf", "a", "tcp-0.conf", "b")},
			files:      map[string]string{"nginx.conf": "a"},
			incomplete: &IncompleteError{File: "tcp-0.conf", Missing: true},
		},
		"a file is older than the index": {
			index:      bundle.Index{Files: sums("nginx.conf", "a", "tcp-0.conf", "b")},
			files:      map[string]string{"nginx.conf": "a", "tcp-0.conf": "old"},
			incomplete: &IncompleteError{File: "tcp-0.conf"},
		},
		"a name that leads elsewhere": {
			index: bundle.Index{Files: sums("nginx.conf", "a", "../x", "b")}, files: map[string]string{"nginx.conf": "a"},
			wantErr: `the file "../x", which it may not`,
		},
		"a name that the agent writes": {
			index: bundle.Index{Files: sums("nginx.conf", "a", "generation.conf", "b")}, files: map[string]string{"nginx.conf": "a"},
			wantErr: `the file "generation.conf", which it may not`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tc.index != nil {
				raw, err := json.Marshal(tc.index)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.IndexFile), raw, 0o600))
			}
			for file, content := range tc.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
			}
			got, err := Read(dir)
			switch {
			case tc.wantErr != "":
				assert.ErrorContains(t, err, tc.wantErr)
			case tc.incomplete != nil:
				var incomplete *IncompleteError
				require.ErrorAs(t, err, &incomplete)
				assert.Equal(t, tc.incomplete, incomplete)
				assert.Contains(t, err.Error(), tc.incomplete.File)
			default:
				require.NoError(t, err)
				assert.Len(t, got.Contents, len(got.Files))
				for file, content := range got.Contents {
					assert.Equal(t, tc.files[file], content)
				}
			}
		})
	}
}

// The kubelet writes a new directory and moves the link "..data" to it. Who reads in
// that moment gets files of both.
func TestReadWhileTheFilesAreSwapped(t *testing.T) {
	dir := t.TempDir()
	swap := func(version string) {
		files := map[string]string{"nginx.conf": version, "servers-00.conf": version, "servers-01.conf": version}
		index := bundle.Index{Files: map[string]string{}}
		for name, content := range files {
			index.Files[name] = bundle.Sum(content)
		}
		raw, err := json.Marshal(index)
		require.NoError(t, err)
		files[bundle.IndexFile] = string(raw)
		data := filepath.Join(dir, "..2026_"+version)
		require.NoError(t, os.Mkdir(data, 0o700))
		for name, content := range files {
			require.NoError(t, os.WriteFile(filepath.Join(data, name), []byte(content), 0o600))
			if link := filepath.Join(dir, name); version == "0" {
				require.NoError(t, os.Symlink(filepath.Join("..data", name), link))
			}
		}
		old, _ := os.Readlink(filepath.Join(dir, "..data"))
		require.NoError(t, os.Symlink(filepath.Base(data), filepath.Join(dir, "..data_tmp")))
		require.NoError(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
		if old != "" {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, old)))
		}
	}
	swap("0")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			swap(strconv.Itoa(i + 1))
		}
	}()
	whole, between := 0, 0
	for swapping := true; swapping; {
		select {
		case <-done:
			swapping = false
		default:
		}
		set, err := Read(dir)
		if _, incomplete := errors.AsType[*IncompleteError](err); incomplete {
			between++
			continue
		}
		require.NoError(t, err)
		whole++
		for name, content := range set.Contents {
			require.Equal(t, set.Contents[bundle.MainFile], content, name)
		}
	}
	set, err := Read(dir)
	require.NoError(t, err)
	assert.Equal(t, "300", set.Contents[bundle.MainFile])
	assert.Positive(t, whole)
	t.Logf("read %d times whole, %d times between two", whole, between)
}
