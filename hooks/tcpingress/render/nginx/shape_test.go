package nginx_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// shape reads a configuration as nginx does, and gives its directives without their
// values: the name, the number of arguments, and the depth of each.
func shape(text string) ([]string, error) {
	var list, words []string
	depth := 0
	for text != "" {
		switch c := text[0]; c {
		case ' ', '\t', '\r', '\n':
			text = text[1:]
		case '#':
			_, text, _ = strings.Cut(text, "\n")
		case ';', '{':
			if len(words) == 0 {
				return nil, errors.New("a directive without a name")
			}
			// Maps have values in the place of names.
			if inMap(list, depth) {
				words[0] = "value"
			}
			list = append(list, strings.Repeat(" ", depth)+words[0]+"/"+strconv.Itoa(len(words)-1)+string(c))
			words = nil
			if c == '{' {
				depth++
			}
			text = text[1:]
		case '}':
			if depth--; depth < 0 || len(words) > 0 {
				return nil, errors.New("a brace too many")
			}
			text = text[1:]
		default:
			word, rest, ok := cutWord(text)
			if !ok {
				return nil, errEnd()
			}
			words, text = append(words, word), rest
		}
	}
	if depth != 0 || len(words) != 0 {
		return nil, errEnd()
	}
	return list, nil
}

func errEnd() error { return errors.New("the text ends within a directive") }

// inMap tells whether what comes next at the depth is within a map.
func inMap(list []string, depth int) bool {
	if depth == 0 {
		return false
	}
	for _, d := range slices.Backward(list) {
		if name, open := strings.CutSuffix(d, "{"); open {
			return strings.HasPrefix(strings.TrimSpace(name), "map/")
		}
	}
	return false
}

// cutWord cuts a word, maybe quoted, off the front.
func cutWord(text string) (word, rest string, ok bool) {
	stop := " \t\r\n;{"
	if text[0] == '"' || text[0] == '\'' {
		stop = text[:1]
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i-1] == '\\':
			text = text[:i-1] + "__" + text[i+1:] // what is marked ends nothing
		case strings.ContainsRune(stop, rune(text[i])):
			if len(stop) == 1 {
				return text[:i+1], text[i+1:], i+1 < len(text) && strings.ContainsRune(" \t\r\n;{)", rune(text[i+1]))
			}
			return text[:i], text[i:], true
		}
	}
	return "", "", false
}
