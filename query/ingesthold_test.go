package query_test

import (
	"context"
	"testing"
	"time"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// TestAHoldEndsByItself: who asked for it may be killed, and the pipeline goes on.
func TestAHoldEndsByItself(t *testing.T) {
	db := schematest.Open(t)
	hold := query.NewIngestHold(db)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		hold.Run(ctx, func(err error) { t.Error(err) })
	}()
	defer func() {
		stop()
		<-ended
	}()
	becomes := func(what string, want bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); hold.Held() != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: held is %v", what, !want)
			}
		}
	}
	ask := func(id string, span time.Duration) {
		t.Helper()
		if err := query.AskIngestHold(t.Context(), db, id, span); err != nil {
			t.Fatal(err)
		}
	}
	ask("a", time.Hour)
	becomes("asked", true)
	ask("b", 2*time.Second)
	ask("a", 0)
	becomes("one has let go, and the other is gone", false)
}
