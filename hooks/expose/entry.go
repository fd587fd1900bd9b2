package expose

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// entry is one part of the annotation between commas.
type entry struct {
	// text is the entry as it was written.
	text string
	// first and last are the external ports; they are equal unless it is a range.
	first, last int32
	// number or name is the Service's port; neither is set if it was left out.
	number   int32
	name     string
	protocol crdv1.Protocol
}

// key gives the first port as statuses write it: "53/UDP".
func (e entry) key() string { return fmt.Sprintf("%d/%s", e.first, e.protocol) }

// isRange tells whether the entry was written as a range, of more than one port.
func (e entry) isRange() bool { return e.last > e.first }

// parse reads the annotation. If it cannot be read whole, there are no entries,
// and problem is a sentence about the first mistake.
func parse(annotation string) (entries []entry, problem string) {
	if strings.TrimSpace(annotation) == "" {
		return nil, `The annotation is empty: name a port such as "6379", or remove the annotation.`
	}
	for i, text := range strings.Split(annotation, ",") {
		text = strings.TrimSpace(text)
		if text == "" {
			return nil, fmt.Sprintf("Entry %d is empty: remove the comma that is too many.", i+1)
		}
		e, problem := parseEntry(text)
		if problem != "" {
			return nil, fmt.Sprintf("Entry %s %s", quote(text), problem)
		}
		entries = append(entries, e)
	}
	return entries, ""
}

// parseEntry gives a problem that continues the words "Entry ... ".
func parseEntry(text string) (e entry, problem string) {
	if strings.ContainsAny(text, " \t\r\n") {
		return entry{}, `contains a blank: separate entries by commas, as in "6379, 53/UDP".`
	}
	external, protocol, hasProtocol := strings.Cut(text, "/")
	external, servicePort, hasServicePort := strings.Cut(external, ":")
	e = entry{text: text, protocol: crdv1.ProtocolTCP}
	if hasProtocol {
		e.protocol = crdv1.Protocol(strings.ToUpper(protocol))
		if e.protocol != crdv1.ProtocolTCP && e.protocol != crdv1.ProtocolUDP {
			return entry{}, fmt.Sprintf("has the protocol %s: write /TCP or /UDP, or leave it out for TCP.", quote(protocol))
		}
	}
	if problem := e.setExternal(external); problem != "" {
		return entry{}, problem
	}
	if !hasServicePort {
		return e, ""
	}
	if e.isRange() {
		return entry{}, "is a range with a port of the Service: a range leads to the same numbers, so leave the part after the colon out."
	}
	return e, e.setServicePort(servicePort)
}

func (e *entry) setExternal(text string) (problem string) {
	if strings.EqualFold(text, "auto") {
		return `asks for a port of the class's pool: write a TCPIngress with a rule without "port" for that.`
	}
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	var problemFirst, problemLast string
	e.first, problemFirst = parseNumber(first)
	e.last, problemLast = parseNumber(last)
	switch {
	case problemFirst != "" && isName(text) && !strings.ContainsAny(text[:1], "0123456789"):
		return fmt.Sprintf(`begins with the name %s: the external port comes first and is a number, as in "5432:postgres".`, quote(text))
	case problemFirst != "":
		return problemFirst
	case problemLast != "":
		return problemLast
	case isRange && e.last <= e.first:
		return `is a range that ends where it begins or before: write the lower port first, as in "8000-8010".`
	default:
		return ""
	}
}

func (e *entry) setServicePort(text string) (problem string) {
	if isName(text) {
		e.name = text
		return ""
	}
	number, problem := parseNumber(text)
	if problem != "" && strings.Trim(text, "0123456789") != "" {
		return fmt.Sprintf("has the Service port %s: write the number or the name of a port of the Service; names are lower case letters, digits and dashes.", quote(text))
	}
	e.number = number
	return problem
}

// parseNumber reads a port in its plain decimal form only: "0443" and "+443" are
// the same number to a person, but not the same key to nginx.
func parseNumber(text string) (number int32, problem string) {
	value, err := strconv.ParseUint(text, 10, 16)
	if err != nil || value == 0 || strconv.FormatUint(value, 10) != text {
		return 0, fmt.Sprintf("has the port %s: write a number from 1 to 65535 without sign and leading zeros.", quote(text))
	}
	return int32(value), ""
}

// isName tells whether the text is a name that a port of a Service can have, and
// no number.
func isName(text string) bool {
	return strings.Trim(text, "0123456789") != "" && len(validation.IsDNS1123Label(text)) == 0
}

// quote gives what a user wrote, short enough for a sentence and without
// characters that would break a line.
func quote(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strconv.Quote(text)
}
