package udp

import (
	"bytes"
	"io"
)

// inheritedNotice is what nginx says at every start, with the number of each socket.
const inheritedNotice = "using inherited sockets from "

// chatter passes on what nginx says, line by line, but for that notice.
type chatter struct {
	to   io.Writer
	rest []byte
}

func (c *chatter) Write(text []byte) (int, error) {
	c.rest = append(c.rest, text...)
	for {
		end := bytes.IndexByte(c.rest, '\n')
		if end < 0 {
			return len(text), nil
		}
		line := c.rest[:end+1]
		c.rest = c.rest[end+1:]
		if bytes.Contains(line, []byte(inheritedNotice)) {
			continue
		}
		if _, err := c.to.Write(line); err != nil {
			return len(text), err
		}
	}
}
