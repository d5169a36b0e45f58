package record

import (
	"strings"
	"testing"
	"time"
)

// What was written a moment ago is known, the newest of it; what was written longer ago is not, nor is a large body,
// nor more than so many.
func TestWhatWasWrittenLatelyIsKnownForAMoment(t *testing.T) {
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	within := time.Second
	write := func(l *lately, id, number uint64, body string, at time.Duration) {
		l.note(&revision{account: 7, kind: "vehicle", id: id, number: number, body: body, before: &revision{}},
			begun.Add(at), within)
	}
	find := func(l *lately, id uint64, at time.Duration) uint64 {
		r := l.find(7, Ref{"vehicle", id}, begun.Add(at), within)
		if r == nil {
			return 0
		}
		if r.before != nil {
			t.Errorf("%d is kept with what was before it", id)
		}
		return r.number
	}
	var l lately
	write(&l, 1, 5, "{}", 0)
	write(&l, 1, 6, "{}", 300*time.Millisecond)
	write(&l, 1, 4, "{}", 400*time.Millisecond) // of whoever was slower to say so
	write(&l, 2, 1, strings.Repeat("x", largestLately+1), 400*time.Millisecond)
	write(&l, 3, 1, "{}", 400*time.Millisecond)
	write(&l, 3, 2, strings.Repeat("x", largestLately+1), 400*time.Millisecond)
	for _, want := range []struct {
		id, number uint64
		at         time.Duration
	}{
		{1, 6, time.Second}, {1, 6, 1300 * time.Millisecond}, {1, 0, 1301 * time.Millisecond}, {2, 0, time.Second},
		{3, 0, time.Second}, {9, 0, time.Second},
	} {
		if got := find(&l, want.id, want.at); got != want.number {
			t.Errorf("after %v revision %d of %d is known, not %d", want.at, got, want.id, want.number)
		}
	}
	if r := l.find(8, Ref{"vehicle", 1}, begun, within); r != nil {
		t.Error("another account finds it")
	}
	for id := range uint64(3 * mostLately) {
		write(&l, 100+id, 1, "{}", 500*time.Millisecond)
	}
	if len(l.newest) > mostLately || len(l.order) > mostLately || find(&l, 99+3*mostLately, time.Second) != 1 {
		t.Errorf("%d revisions and %d places are kept", len(l.newest), len(l.order))
	}
	write(&l, 1, 7, "{}", time.Hour)
	if len(l.newest) != 1 || len(l.order) != 1 {
		t.Errorf("an hour later %d are kept", len(l.newest))
	}
}
