package record

import (
	"sync"
	"time"

	"github.com/motorpool/fleet"
)

// lately has the revisions that this store wrote a moment ago, so that the next write of the same record need not read
// it first: see Log.write, which reads it after all where that leads to nothing. It knows nothing that was written
// longer ago than the server knows tokens for certain.
type lately struct {
	sync.Mutex
	newest map[writtenRef]writtenAt
	order  []writtenRef // as they were written, one as often as it was
}

type writtenRef struct {
	account fleet.AccountID
	of      Ref
}

type writtenAt struct {
	revision *revision
	at       time.Time
}

// Bounds of what is known: how many revisions, and how large each may be.
const (
	mostLately    = 1000
	largestLately = 16 << 10 // bytes of a body
)

// note notes a revision that stands.
func (l *lately) note(r *revision, now time.Time, within time.Duration) {
	ref := r.ref()
	l.Lock()
	defer l.Unlock()
	for len(l.order) > 0 {
		oldest, ok := l.newest[l.order[0]]
		if ok && len(l.order) < mostLately && now.Sub(oldest.at) <= within {
			break
		}
		delete(l.newest, l.order[0])
		l.order = l.order[1:]
	}
	if known, ok := l.newest[ref]; ok && known.revision.number > r.number {
		return
	}
	if len(r.body) > largestLately {
		delete(l.newest, ref)
		return
	}
	if l.newest == nil {
		l.newest = make(map[writtenRef]writtenAt)
	}
	alone := *r
	alone.before = nil // or one after another would be kept
	l.newest[ref] = writtenAt{&alone, now}
	l.order = append(l.order, ref)
}

// find returns the newest revision of a record that was written so lately, or nil.
func (l *lately) find(account fleet.AccountID, of Ref, now time.Time, within time.Duration) *revision {
	l.Lock()
	defer l.Unlock()
	known, ok := l.newest[writtenRef{account, of}]
	if !ok || now.Sub(known.at) > within {
		return nil
	}
	return known.revision
}
