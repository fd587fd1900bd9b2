package nginx

import (
	"io"
	"os"
)

// mostOfErrorLog is how much of what was added to the error log is looked at: the
// complaint about a reload stands near its begin.
const mostOfErrorLog = 1 << 20

// ErrorLog is nginx's own log.
type ErrorLog struct{ Path string }

// Mark is a place in the log.
type Mark struct {
	file os.FileInfo
	size int64
}

// End is the place where the next line will stand.
func (l ErrorLog) End() Mark {
	info, err := os.Stat(l.Path)
	if err != nil {
		return Mark{}
	}
	return Mark{file: info, size: info.Size()}
}

// Since is the Complaint after the mark, "" for none.
func (l ErrorLog) Since(mark Mark) string {
	file, err := os.Open(l.Path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	var start int64
	if info, err := file.Stat(); err == nil && mark.file != nil && os.SameFile(info, mark.file) && info.Size() >= mark.size {
		start = mark.size
	}
	text, err := io.ReadAll(io.NewSectionReader(file, start, mostOfErrorLog))
	if err != nil {
		return ""
	}
	return Complaint(string(text))
}
