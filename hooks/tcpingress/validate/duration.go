package validate

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const durationText = `must be one to four numbers of at most five digits, each with its unit h, m, s or ms, such as "10s" or "1m30s"`

// ParseDuration reads a duration as the Gateway API writes it. The empty one is zero.
func ParseDuration(d crdv1.Duration) (time.Duration, error) {
	if d == "" {
		return 0, nil
	}
	var total time.Duration
	rest := string(d)
	for range 4 {
		number, unit, tail, ok := cutElement(rest)
		if !ok {
			break
		}
		total += time.Duration(number) * unit
		rest = tail
		if rest == "" {
			return total, nil
		}
	}
	return 0, fmt.Errorf("duration %q: %s", string(d), durationText)
}

// cutElement cuts one number with its unit off the front. Five digits of hours
// are eleven years, so four of them stay far below what time.Duration can hold.
func cutElement(s string) (number int64, unit time.Duration, rest string, ok bool) {
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		number = number*10 + int64(s[digits]-'0')
		digits++
		if digits > 5 {
			return 0, 0, "", false
		}
	}
	s = s[digits:]
	switch {
	case digits == 0:
		return 0, 0, "", false
	case strings.HasPrefix(s, "ms"):
		return number, time.Millisecond, s[2:], true
	case strings.HasPrefix(s, "h"):
		return number, time.Hour, s[1:], true
	case strings.HasPrefix(s, "m"):
		return number, time.Minute, s[1:], true
	case strings.HasPrefix(s, "s"):
		return number, time.Second, s[1:], true
	}
	return 0, 0, "", false
}

// duration checks a duration that may be left out.
func duration(d crdv1.Duration, limit time.Duration, limitText string, at place) field.ErrorList {
	if d == "" {
		return nil
	}
	got, err := ParseDuration(d)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at.path(), string(d), durationText)}
	case got <= 0 || got > limit:
		return field.ErrorList{field.Invalid(at.path(), string(d), "must be more than 0 and at most "+limitText)}
	}
	return nil
}
