package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// auditPolicy keeps one line per request, when it is answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
`

// Write is a request that was to change something, whether or not it did.
type Write struct {
	Time        time.Time // when the API server received it
	User        string
	UserAgent   string
	Verb        string // create, update, patch, delete or deletecollection
	Group       string // of the API, empty for the core
	Resource    string
	Subresource string
	Namespace   string
	Name        string // empty where the server was to make one up
	Code        int    // of the answer
}

// String says it in one line.
func (w Write) String() string {
	resource := w.Resource
	if w.Group != "" {
		resource += "." + w.Group
	}
	if w.Subresource != "" {
		resource += "/" + w.Subresource
	}
	return fmt.Sprintf("%s %s %s %s/%s by %s: %d", w.Time.Format("15:04:05.000"), w.Verb, resource, w.Namespace, w.Name, w.User, w.Code)
}

// auditLog is the file of the audit log.
func (c *Cluster) auditLog() string {
	return filepath.Join(c.LogDir(), "audit.jsonl")
}

// Writes returns the requests received since then that were to change something, in the order of their answers. It needs Options.Audit. Reviews of
// tokens and permissions, which are created but stored nowhere, do not count; leases and other housekeeping of the API server do, told by their User.
func (c *Cluster) Writes(since time.Time) ([]Write, error) {
	if !c.options.Audit {
		return nil, errors.New("reading the audit log: Options.Audit is off")
	}
	file, err := os.Open(c.auditLog())
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()

	var out []Write
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var event auditEvent
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			break // a line that is being written
		}
		if event.isWrite() && !event.RequestReceivedTimestamp.Before(since) {
			out = append(out, event.write())
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return out, nil
}

// auditEvent is what we read of an audit.k8s.io/v1 Event.
type auditEvent struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	UserAgent string `json:"userAgent"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
}

// isWrite tells whether the request was to change what is stored.
func (e auditEvent) isWrite() bool {
	if group := e.ObjectRef.APIGroup; group == "authorization.k8s.io" || group == "authentication.k8s.io" {
		return false
	}
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

// write is the event in our words.
func (e auditEvent) write() Write {
	return Write{
		Time:        e.RequestReceivedTimestamp,
		User:        e.User.Username,
		UserAgent:   e.UserAgent,
		Verb:        e.Verb,
		Group:       e.ObjectRef.APIGroup,
		Resource:    e.ObjectRef.Resource,
		Subresource: e.ObjectRef.Subresource,
		Namespace:   e.ObjectRef.Namespace,
		Name:        e.ObjectRef.Name,
		Code:        e.ResponseStatus.Code,
	}
}
