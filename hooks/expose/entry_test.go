package expose

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func TestParseAccepts(t *testing.T) {
	tcp := func(text string, port int32) entry {
		return entry{text: text, first: port, last: port, protocol: crdv1.ProtocolTCP}
	}
	with := func(e entry, change func(*entry)) entry { change(&e); return e }
	cases := map[string]struct {
		annotation string
		want       []entry
	}{
		"a number":                        {"6379", []entry{tcp("6379", 6379)}},
		"the lowest and the highest port": {"1,65535", []entry{tcp("1", 1), tcp("65535", 65535)}},
		"a Service port by number": {"5432:5433", []entry{
			with(tcp("5432:5433", 5432), func(e *entry) { e.number = 5433 }),
		}},
		"a Service port by name": {"5432:postgres", []entry{
			with(tcp("5432:postgres", 5432), func(e *entry) { e.name = "postgres" }),
		}},
		"a name that begins with a digit": {"80:8080-web", []entry{
			with(tcp("80:8080-web", 80), func(e *entry) { e.name = "8080-web" }),
		}},
		"UDP": {"53/UDP", []entry{
			with(tcp("53/UDP", 53), func(e *entry) { e.protocol = crdv1.ProtocolUDP }),
		}},
		"a protocol in lower case": {"53/udp,53/tcp", []entry{
			with(tcp("53/udp", 53), func(e *entry) { e.protocol = crdv1.ProtocolUDP }), tcp("53/tcp", 53),
		}},
		"everything at once": {"53:dns/UDP", []entry{
			with(tcp("53:dns/UDP", 53), func(e *entry) { e.name, e.protocol = "dns", crdv1.ProtocolUDP }),
		}},
		"a range": {"8000-8010", []entry{
			with(tcp("8000-8010", 8000), func(e *entry) { e.last = 8010 }),
		}},
		"a range of UDP": {"8000-8010/UDP", []entry{
			with(tcp("8000-8010/UDP", 8000), func(e *entry) { e.last, e.protocol = 8010, crdv1.ProtocolUDP }),
		}},
		"the example of the documentation, folded by YAML": {" 6379, 5432:postgres,\n53/UDP ", []entry{
			tcp("6379", 6379),
			with(tcp("5432:postgres", 5432), func(e *entry) { e.name = "postgres" }),
			with(tcp("53/UDP", 53), func(e *entry) { e.protocol = crdv1.ProtocolUDP }),
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, problem := parse(tc.annotation)
			require.Empty(t, problem)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestParseRejects(t *testing.T) {
	const number = "write a number from 1 to 65535 without sign and leading zeros."
	cases := map[string]struct{ annotation, want string }{
		"nothing":                    {"", `The annotation is empty: name a port such as "6379", or remove the annotation.`},
		"white space":                {" \n", `The annotation is empty: name a port such as "6379", or remove the annotation.`},
		"a comma at the end":         {"6379,", "Entry 2 is empty: remove the comma that is too many."},
		"a comma at the beginning":   {",6379", "Entry 1 is empty: remove the comma that is too many."},
		"blanks instead of commas":   {"6379 5432", `Entry "6379 5432" contains a blank: separate entries by commas, as in "6379, 53/UDP".`},
		"port 0":                     {"0", `Entry "0" has the port "0": ` + number},
		"a port above 65535":         {"65536", `Entry "65536" has the port "65536": ` + number},
		"a negative port":            {"-1", `Entry "-1" has the port "": ` + number},
		"a leading zero":             {"0443", `Entry "0443" has the port "0443": ` + number},
		"a sign":                     {"+443", `Entry "+443" has the port "+443": ` + number},
		"another script's digits":    {"６３７９", `Entry "６３７９" has the port "６３７９": ` + number},
		"hexadecimal":                {"0x50", `Entry "0x50" has the port "0x50": ` + number},
		"a name in the first place":  {"postgres:5432", `Entry "postgres:5432" begins with the name "postgres": the external port comes first and is a number, as in "5432:postgres".`},
		"no external port":           {":5432", `Entry ":5432" has the port "": ` + number},
		"an empty Service port":      {"5432:", `Entry "5432:" has the port "": ` + number},
		"Service port 0":             {"5432:0", `Entry "5432:0" has the port "0": ` + number},
		"a Service port above 65535": {"5432:70000", `Entry "5432:70000" has the port "70000": ` + number},
		"a name in upper case":       {"5432:Postgres", `Entry "5432:Postgres" has the Service port "Postgres": write the number or the name of a port of the Service; names are lower case letters, digits and dashes.`},
		"two colons":                 {"1:2:3", `Entry "1:2:3" has the Service port "2:3": write the number or the name of a port of the Service; names are lower case letters, digits and dashes.`},
		"an unknown protocol":        {"5060/SCTP", `Entry "5060/SCTP" has the protocol "SCTP": write /TCP or /UDP, or leave it out for TCP.`},
		"an empty protocol":          {"5060/", `Entry "5060/" has the protocol "": write /TCP or /UDP, or leave it out for TCP.`},
		"two protocols":              {"53/TCP/UDP", `Entry "53/TCP/UDP" has the protocol "TCP/UDP": write /TCP or /UDP, or leave it out for TCP.`},
		"the protocol first":         {"53/UDP:dns", `Entry "53/UDP:dns" has the protocol "UDP:dns": write /TCP or /UDP, or leave it out for TCP.`},
		"a range without an end":     {"8000-", `Entry "8000-" has the port "": ` + number},
		"a range of one port":        {"8000-8000", `Entry "8000-8000" is a range that ends where it begins or before: write the lower port first, as in "8000-8010".`},
		"a range backwards":          {"8010-8000", `Entry "8010-8000" is a range that ends where it begins or before: write the lower port first, as in "8000-8010".`},
		"a range of three":           {"1-2-3", `Entry "1-2-3" has the port "2-3": ` + number},
		"a range with Service port":  {"8000-8010:web", `Entry "8000-8010:web" is a range with a port of the Service: a range leads to the same numbers, so leave the part after the colon out.`},
		"a port of the pool":         {"auto:5432", `Entry "auto:5432" asks for a port of the class's pool: write a TCPIngress with a rule without "port" for that.`},
		"the first of two mistakes":  {"6379,x,y", `Entry "x" begins with the name "x": the external port comes first and is a number, as in "5432:postgres".`},
		"a line break is shown":      {"63\n79", `Entry "63\n79" contains a blank: separate entries by commas, as in "6379, 53/UDP".`},
		"something long is cut": {
			"1234567890123456789012345678901234567890123",
			`Entry "1234567890123456789012345678901234567890..." has the port "1234567890123456789012345678901234567890...": ` + number,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, problem := parse(tc.annotation)
			assert.Equal(t, tc.want, problem)
			assert.Empty(t, got)
		})
	}
}

// FuzzParse: whatever is written, there are either entries or a problem, and
// entries are what their canonical form says.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"6379, 5432:postgres, 53/UDP", "8000-8010/udp", "1:2:3", "", ",", "auto", "0443", "80:8080-web"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, annotation string) {
		entries, problem := parse(annotation)
		require.NotEqual(t, problem == "", len(entries) == 0, "either entries or a problem")
		for _, e := range entries {
			require.True(t, 1 <= e.first && e.first <= e.last && e.last <= 65535)
			again, problem := parse(canonical(e))
			require.Empty(t, problem)
			require.Len(t, again, 1)
			e.text, again[0].text = "", ""
			require.Equal(t, e, again[0])
		}
	})
}

func canonical(e entry) string {
	text := fmt.Sprint(e.first)
	switch {
	case e.isRange():
		text += fmt.Sprintf("-%d", e.last)
	case e.name != "":
		text += ":" + e.name
	case e.number != 0:
		text += fmt.Sprintf(":%d", e.number)
	}
	return text + "/" + string(e.protocol)
}
