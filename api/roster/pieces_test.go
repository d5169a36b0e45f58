package roster

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
)

// What is ready takes its part of the memory and no more, however much is asked for; what is asked for again and again
// stays; and nothing is sent at another instant, revision or state of knowledge than it was made for.
func TestWhatIsReadyHasABoundAndHoldsForATime(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Memory = 1 << 20
	r, err := New(cfg, nil, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	p := NewPieces(r)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const known, other = 8, 9
	of := func(id uint64) PieceOf { return PieceOf{Account: fleet.AccountID(7), ID: id} }
	put := func(id uint64) {
		p.Put(of(id), &Piece{JSON: make([]byte, 2000), Revision: 3, By: known, From: now, Until: now.Add(time.Minute)})
	}
	put(1)
	for _, c := range []struct {
		why      string
		of       PieceOf
		revision uint64
		by       uint64
		at       time.Time
		there    bool
	}{
		{"as it was made", of(1), 3, known, now, true},
		{"at its last instant", of(1), 3, known, now.Add(time.Minute), true},
		{"later", of(1), 3, known, now.Add(time.Minute + 1), false},
		{"earlier", of(1), 3, known, now.Add(-1), false},
		{"at another revision", of(1), 4, known, now, false},
		{"when something else is known", of(1), 3, other, now, false},
		{"in metric units", PieceOf{Account: 7, ID: 1, Metric: true}, 3, known, now, false},
		{"of another account", PieceOf{Account: 8, ID: 1}, 3, known, now, false},
	} {
		if got := p.Get(c.of, c.revision, c.by, c.at) != nil; got != c.there {
			t.Errorf("%s: %v", c.why, got)
		}
	}
	for id := uint64(2); id < 2000; id++ {
		put(id)
		if p.Get(of(1), 3, known, now) == nil {
			t.Fatalf("what is asked for all the time was let go of after %d", id)
		}
		if most := cfg.Memory / piecesPart; r.bytes.Load() > most {
			t.Fatalf("%d bytes, and %d may be", r.bytes.Load(), most)
		}
	}
	if p.Get(of(2), 3, known, now) != nil {
		t.Error("what nobody asked for is there still")
	}
	p.changed(7, &changes{any: ofAll})
	if p.Get(of(1), 3, known, now) != nil || r.bytes.Load() != 0 {
		t.Errorf("%d bytes stay after rows were rewritten", r.bytes.Load())
	}
}
