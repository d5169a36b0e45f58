package pace

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnAnswerIsTakenAtAPace takes 32 KiB each six seconds, which is fast enough for ever, and each 29, which no pause
// is too long for.
func TestAnAnswerIsTakenAtAPace(t *testing.T) {
	for wait, whole := range map[time.Duration]bool{6 * time.Second: true, 29 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			client := &trickle{ResponseWriter: httptest.NewRecorder(), wait: wait}
			var sent int
			var err error
			Default().Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				sent, err = w.Write(make([]byte, 100*paceChunk))
			})).ServeHTTP(client, httptest.NewRequest("GET", "/", nil))
			if errors.Is(err, ErrStalled) == whole || !whole && sent > 3*paceChunk {
				t.Errorf("a chunk each %v: %d bytes, %v", wait, sent, err)
			}
		})
	}
}

// trickle is a client that takes what it is given after a while.
type trickle struct {
	http.ResponseWriter
	wait     time.Duration
	deadline time.Time
}

func (c *trickle) SetWriteDeadline(t time.Time) error { c.deadline = t; return nil }

func (c *trickle) Write(p []byte) (int, error) {
	if time.Sleep(c.wait); time.Now().After(c.deadline) {
		return 0, os.ErrDeadlineExceeded
	}
	return len(p), nil
}
