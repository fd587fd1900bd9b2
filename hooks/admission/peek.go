package admission

import "strings"

// Peek names the request of a review for a log, "CREATE nginx-stream.dev/v1
// TCPIngress data/redis"; "" if the body does not tell.
func Peek(body []byte) string {
	request, err := decode(body)
	if err != nil {
		return ""
	}
	name := request.Name
	if request.Namespace != "" {
		name = request.Namespace + "/" + name
	}
	text := strings.Join([]string{
		string(request.Operation), request.Kind.Group + "/" + request.Kind.Version, request.Kind.Kind, name,
	}, " ")
	if len(text) > 400 {
		return ""
	}
	return text
}
