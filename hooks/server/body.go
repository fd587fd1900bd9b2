package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

// trusted is how much memory a request gets on its word alone. One that announces
// more gets the rest when that much has arrived.
const trusted = 1 << 20

// maxReview bounds a review. The API server takes requests of at most 3 MiB, and a
// review holds an object twice.
const maxReview = 8 << 20

// bodyLimit is how large a body may be.
type bodyLimit struct {
	bytes int64
	// remedy ends the sentence that refuses a larger one.
	remedy string
}

// readBody reads the whole body into memory of about its size.
func readBody(w http.ResponseWriter, r *http.Request, limit bodyLimit) ([]byte, error) {
	if r.ContentLength > limit.bytes {
		return nil, tooLarge(limit)
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, limit.bytes), r.ContentLength)
	var beyond *http.MaxBytesError
	switch {
	case errors.As(err, &beyond):
		return nil, tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &problem{code: http.StatusRequestTimeout, text: "the body did not arrive in time", cause: err}
	case err != nil:
		return nil, &problem{code: http.StatusBadRequest, text: "the body did not arrive whole", cause: err}
	case len(body) == 0:
		return nil, &problem{code: http.StatusBadRequest, text: "the body is empty"}
	default:
		return body, nil
	}
}

func tooLarge(limit bodyLimit) error {
	return &problem{
		code: http.StatusRequestEntityTooLarge,
		text: fmt.Sprintf("the body is larger than %s%s", size(limit.bytes), limit.remedy),
	}
}

// size gives a number of bytes for people, in MiB where it is a whole number of them.
func size(bytes int64) string {
	if mib := bytes >> 20; mib > 0 && mib<<20 == bytes {
		return fmt.Sprintf("%d MiB", mib)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// readAll is io.ReadAll with the announced length, which is -1 if unknown.
func readAll(r io.Reader, length int64) ([]byte, error) {
	// One byte more, so that the end is seen without growing.
	b := make([]byte, 0, min(max(length, 512), trusted)+1)
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err != nil {
			if errors.Is(err, io.EOF) {
				return b, nil
			}
			return nil, err
		}
		if len(b) == cap(b) {
			b = grow(b, length)
		}
	}
}

func grow(b []byte, length int64) []byte {
	if int64(cap(b)) <= length {
		return append(make([]byte, 0, length+1), b...)
	}
	return append(b, 0)[:len(b)]
}
