package metacontroller

import "time"

// Hook answers the calls of one URL path. It is a pure function: the same body
// and time give the same answer.
type Hook struct {
	// Path is the URL path, such as "/tcpingressclass/sync".
	Path string
	// Serve decodes the body, and gives the response to be encoded as JSON. An
	// error means that nothing may be changed: *BadRequest is answered with 400,
	// every other one with 500.
	Serve func(body []byte, now time.Time) (response any, err error)
}

// BadRequest is a request that cannot be read. Its text is one plain sentence
// without a final full stop.
type BadRequest struct{ Problem string }

func (e *BadRequest) Error() string { return e.Problem }

// MissingGroup is a request without a group of objects that the hook asked for.
// Metacontroller sends asked-for groups even if they are empty, so that a missing
// one must not be taken for "there are none".
type MissingGroup struct {
	// Where is "children", "related" or "attachments".
	Where string
	// Group is the wire name, "TCPIngress.nginx-stream.dev/v1".
	Group string
}

func (e *MissingGroup) Error() string {
	return "the request has no " + e.Where + " group " + e.Group
}
