package bundle

// Session is one line of the access log: a session that ended. The renderer writes
// the log_format that makes it, the agent reads it. nginx gives numbers as text
// where a variable may be empty ("-" or ""), hence the strings.
type Session struct {
	// Time of the end, seconds since 1970 ($msec).
	Time float64 `json:"t"`
	// Listener is the port as the book has it: "6379/TCP", "30000-30100/TCP" for a
	// range, "8443/TCP" for all hosts of a port.
	Listener string `json:"l"`
	// Owner is "namespace/name/rule", or "" where no rule was found (unknown host).
	Owner string `json:"o"`
	// Status is nginx's $status: 200; 400 for a bad PROXY header; 403 for a client that
	// is not in allowSources; 500 for a backend without an address, or, if Owner is
	// empty, for an unknown host; 502 for a backend that takes no connection; 503 for a
	// client with too many connections.
	Status int `json:"s"`
	// Seconds is how long the session took ($session_time).
	Seconds float64 `json:"d"`
	// Sent went to the client ($bytes_sent).
	Sent int64 `json:"out"`
	// Received came from the client ($bytes_received); bytes that were read before
	// the backend was chosen are missing in it.
	Received int64 `json:"rcv"`
	// Upstream is $upstream_addr: addresses that were tried, "" for none.
	Upstream string `json:"ua"`
	// UpstreamSent is $upstream_bytes_sent, one number for each address.
	UpstreamSent string `json:"us"`
	// UpstreamReceived is $upstream_bytes_received.
	UpstreamReceived string `json:"ur"`
	// ConnectSeconds is $upstream_connect_time, "-" where no connection was made, ""
	// where none was tried.
	ConnectSeconds string `json:"uc"`
	// ServerName is what the client asked for by SNI ($ssl_preread_server_name).
	ServerName string `json:"sni,omitempty"`
}
