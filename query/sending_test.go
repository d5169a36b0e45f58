package query_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// late is a context that the driver's watch over a batch comes to look at late, as on a busy machine.
type late struct {
	context.Context
	looked chan struct{} // gets an item when the watch has come to look
}

func (l late) Done() <-chan struct{} {
	callers := make([]uintptr, 8)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, "contextWatchdog") {
			time.Sleep(200 * time.Millisecond)
			l.looked <- struct{}{}
		}
		if !more {
			return l.Context.Done()
		}
	}
}

// A context often ends as soon as what it was for is done. That may not cut off whoever has the connection by then.
func TestNobodyIsCutOffByAnInsertThatIsDone(t *testing.T) {
	config := schematest.Config(t)
	config.MaxConns = 1
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Exec(t.Context(), "CREATE TABLE numbers (n UInt64) ENGINE = Memory"); err != nil {
		t.Fatal(err)
	}
	for range 8 { // the watch looks at one of two things that are both there, and takes either
		ctx, cancel := context.WithCancel(t.Context())
		watch := late{ctx, make(chan struct{}, 1)}
		batch, err := db.PrepareBatch(watch, "INSERT INTO numbers (n)")
		if err != nil {
			t.Fatal(err)
		}
		if err := batch.Append(uint64(1)); err != nil {
			t.Fatal(err)
		}
		if err := batch.Send(); err != nil {
			t.Fatal(err)
		}
		cancel()
		var slept uint8
		if err := db.QueryRow(t.Context(), "SELECT sleep(0.25)").Scan(&slept); err != nil {
			t.Fatal(err)
		}
		<-watch.looked
	}
}
