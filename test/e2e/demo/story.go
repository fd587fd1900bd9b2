package main

import (
	"fmt"
	"io"
	"strings"
)

// story is what is printed. Once its reader is gone, it keeps the error.
type story struct {
	to       io.Writer
	chapters int
	err      error
}

func (s *story) write(format string, args ...any) {
	if _, err := fmt.Fprintf(s.to, format, args...); err != nil && s.err == nil {
		s.err = fmt.Errorf("telling the story: %w", err)
	}
}

// title begins a chapter.
func (s *story) title(text string) {
	s.chapters++
	s.write("%d. %s\n%s\n", s.chapters, text, strings.Repeat("-", len(text)+len(fmt.Sprint(s.chapters))+2))
}

// say explains.
func (s *story) say(format string, args ...any) {
	s.write(format+"\n\n", args...)
}

// command is what a user would type.
func (s *story) command(args ...string) {
	words := []string{"kubectl"}
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, " '\"{}[]()*?$&;|<>\\`") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	s.write("    $ %s\n", strings.Join(words, " "))
}

// lines are what a user would see.
func (s *story) lines(text string) {
	s.indent("    ", text)
	s.write("\n")
}

// file is what a user would write.
func (s *story) file(text string) {
	s.indent("      ", text)
	s.write("\n")
}

func (s *story) indent(by, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		s.write("%s\n", strings.TrimRight(by+line, " "))
	}
}
