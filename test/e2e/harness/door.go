package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Call is a hook call that came through the door.
type Call struct {
	Path      string
	Namespace string // of the parent
	Name      string // of the parent
	Code      int    // of the answer; 0 where there was none
	Failed    bool   // it was no answer of the hooks, or none that counts
	Replica   string // that answered
	Begin     time.Time
	Took      time.Duration
}

// Fault is a misbehaviour: it answers in place of the hooks, or delays them.
type Fault func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc)

// Door is where the applier finds the hooks, as it would find their Service. It
// spreads calls over the replicas that run, remembers them, and misbehaves for the
// parents that a test chooses.
type Door struct {
	url    string
	hooks  *Hooks
	server *http.Server
	client *http.Client

	mu     sync.Mutex
	calls  []Call
	faults []*fault
	turn   int
}

type fault struct {
	match func(Call) bool
	act   Fault
}

// newDoor opens the door.
func newDoor(ctx context.Context, hooks *Hooks) (*Door, error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", ports[0])
	if err != nil {
		return nil, fmt.Errorf("opening the door: %w", err)
	}
	d := &Door{
		url:    "http://" + listener.Addr().String(),
		hooks:  hooks,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	d.server = &http.Server{Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = d.server.Serve(listener) }()
	return d, nil
}

// Break lets act answer the calls that match, until the returned function mends it.
func (d *Door) Break(match func(Call) bool, act Fault) (mend func()) {
	f := &fault{match: match, act: act}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, f)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.faults = slices.DeleteFunc(d.faults, func(o *fault) bool { return o == f })
	}
}

// Calls gives the calls that match, in the order of their ends.
func (d *Door) Calls(match func(Call) bool) []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Call
	for _, c := range d.calls {
		if match(c) {
			list = append(list, c)
		}
	}
	return list
}

func (d *Door) close() error { return d.server.Close() }

// recorder remembers the code of an answer, and whose it was.
type recorder struct {
	http.ResponseWriter
	code    int
	replica string
}

func (r *recorder) WriteHeader(code int) {
	r.code = code
	r.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (d *Door) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the applier has gone
	}
	call := Call{Path: r.URL.Path, Begin: time.Now()}
	call.Namespace, call.Name = parentOf(body)
	answer := &recorder{ResponseWriter: w}
	next := func(http.ResponseWriter, *http.Request) { answer.replica = d.forward(answer, r, body) }
	f := d.faultOf(call)
	defer func() { // also when a fault aborts the connection
		call.Code, call.Took, call.Replica = answer.code, time.Since(call.Begin), answer.replica
		call.Failed = answer.code != http.StatusOK || answer.replica == ""
		d.mu.Lock()
		defer d.mu.Unlock()
		d.calls = append(d.calls, call)
	}()
	if f != nil {
		f.act(answer, r, next)
		return
	}
	next(answer, r)
}

func (d *Door) faultOf(call Call) *fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.faults {
		if f.match(call) {
			return f
		}
	}
	return nil
}

// forward asks the replicas in turn. With none up the connection is refused, as far
// as that can be told from here.
func (d *Door) forward(w http.ResponseWriter, r *http.Request, body []byte) (replica string) {
	up := d.hooks.up()
	if len(up) == 0 {
		panic(http.ErrAbortHandler)
	}
	d.mu.Lock()
	d.turn++
	address := up[d.turn%len(up)]
	d.mu.Unlock()

	request, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+address+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	request.Header = r.Header.Clone()
	response, err := d.client.Do(request)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(answer)
	return address
}

// parentOf reads the namespace and the name of the parent in a request.
func parentOf(body []byte) (namespace, name string) {
	type object struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	var request struct {
		Parent *object `json:"parent"`
		Object *object `json:"object"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return "", ""
	}
	parent := request.Parent
	if parent == nil {
		parent = request.Object
	}
	if parent == nil {
		return "", ""
	}
	return parent.Metadata.Namespace, parent.Metadata.Name
}

// Answer is a fault that answers with a code and a sentence.
func Answer(code int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		http.Error(w, "the test says no", code)
	}
}

// HangUp is a fault that ends the connection without an answer.
func HangUp() Fault {
	return func(http.ResponseWriter, *http.Request, http.HandlerFunc) { panic(http.ErrAbortHandler) }
}

// Rubbish is a fault that answers 200 with something that is no answer.
func Rubbish() Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, `{"children": [`)
	}
}

// Slow is a fault that lets the hooks answer, but late.
func Slow(by time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		select {
		case <-time.After(by):
			next(w, r)
		case <-r.Context().Done():
		}
	}
}
