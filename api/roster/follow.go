package roster

import (
	"context"
	"time"

	"github.com/motorpool/fleet/query"
)

// Follower is told what comes to the log.
type Follower interface {
	// Wanted are the accounts and the kinds that it wants to be told of, of an account that it names for the first time,
	// what comes from then on; and whether anybody asks, or it can wait.
	Wanted() (accounts []uint64, kinds []string, asked bool)
	// Told says what has come to the log since the look before, of the accounts that it named: by a look that began at an
	// instant, so that whatever else it knows of them stood then. There may be some that came earlier.
	Told(accounts []uint64, began time.Time, came []query.Came)
	// Lost says that what it knows may have been written over, or is gone.
	Lost()
}

// following is a follower, and what it was told. Of the look that is under way, and nobody else.
type following struct {
	Follower
	seen  known
	began int64 // the look that told last
}

// tellEvery is how often a follower is told, at most: those who write upon what they know may do so for some seconds.
const tellEvery = 500 * time.Millisecond

// Follow has a follower told what comes to the log, while somebody asks for anything. It must be called before that.
func (r *Roster) Follow(f Follower) { r.following = &following{Follower: f} }

// tell tells the follower what has come to the log. Where that cannot be read nothing that it knows counts any more.
func (r *Roster) tell(ctx context.Context, now known, parts []part, began int64) {
	f := r.following
	if f == nil || f.began != 0 && began-f.began < int64(tellEvery) {
		return
	}
	accounts, kinds, asked := f.Wanted()
	if len(accounts) > 0 && !asked {
		return
	}
	first, _, other := f.seen.since(&now, parts)
	lost := other || f.seen.spans == nil
	var came []query.Came
	if !lost && first != 0 && len(accounts) > 0 {
		err := query.EachCame(ctx, r.db, accounts, kinds, first, func(c query.Came) { came = append(came, c) })
		if lost = err != nil; lost {
			r.metrics.failed.Inc()
			r.log.Debug("what came to the log could not be told", "error", err)
		}
	}
	if lost {
		f.Lost()
	} else {
		f.Told(accounts, r.start.Add(time.Duration(began-1)), came)
	}
	f.seen, f.began = now, began
}
