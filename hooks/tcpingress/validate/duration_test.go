package validate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func TestParseDuration(t *testing.T) {
	accept := map[crdv1.Duration]time.Duration{
		"":                   0,
		"0s":                 0,
		"10s":                10 * time.Second,
		"1m30s":              90 * time.Second,
		"1h2m3s4ms":          time.Hour + 2*time.Minute + 3*time.Second + 4*time.Millisecond,
		"500ms":              500 * time.Millisecond,
		"5m5m":               10 * time.Minute,
		"1s1h":               time.Hour + time.Second,
		"00010s":             10 * time.Second,
		"99999h":             99999 * time.Hour,
		"99999h99999h1h1m":   (2*99999+1)*time.Hour + time.Minute,
		"99999ms99999m1ms1s": 99999*time.Millisecond + 99999*time.Minute + time.Millisecond + time.Second,
	}
	for text, want := range accept {
		got, err := ParseDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	reject := []crdv1.Duration{
		"10", "s", "1d", "1us", "1.5s", "-1s", "+1s", "1 s", " 1s", "1s ", "1S", "100000s", "1h1h1h1h1h", "1h;", "1m30", "1mss", "infinite",
	}
	for _, text := range reject {
		_, err := ParseDuration(text)
		assert.Error(t, err, text)
	}
	_, err := ParseDuration("10")
	assert.EqualError(t, err, `duration "10": must be one to four numbers of at most five digits, each with its unit h, m, s or ms, such as "10s" or "1m30s"`)
}
