package record

import (
	"context"
	"strconv"
	"sync"

	"github.com/motorpool/fleet"
)

// Numbered is part of a body whose record people speak of: by a letter and a number, as an id is nothing to say on the
// telephone. Each is given once in an account; within a process they rise, and some are left out.
type Numbered struct {
	Number string `json:"number"` // "B-1042"; of Kind.Letter
}

func (n *Numbered) numbered() *Numbered { return n }

// firstNumber is the first of an account: all that it will soon have are as long.
const firstNumber = 1001

// numberBlock is how many numbers a process sets aside at a time. What it has not given when it ends is left out.
const numberBlock = 16

// draftNumbers is how many it sets aside for what is decided in memory, which is much.
const draftNumbers = 256

// maxSeries bounds the memory; beyond it all is forgotten, and what was set aside is left out.
const maxSeries = 10_000

// Counter counts the records of a kind of an account that carry a number.
type Counter struct {
	Of   string `json:"of"`
	Last int    `json:"last"` // that a process has set aside
}

// Counters describes the kind. They are not shown.
var Counters = Kind[Counter]{Name: "counter", Prefix: "cnt_"}

// numbers are the numbers that this process has set aside.
type numbers struct {
	mu  sync.Mutex
	all map[numberSeries]*numberRange
}

type numberSeries struct {
	account fleet.AccountID
	kind    string
}

// numberRange is what is left of a block.
type numberRange struct {
	mu        sync.Mutex
	next, end int
}

func (n *numbers) of(key numberSeries) *numberRange {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.all[key]
	if r == nil {
		if n.all == nil || len(n.all) >= maxSeries {
			n.all = make(map[numberSeries]*numberRange)
		}
		r = &numberRange{}
		n.all[key] = r
	}
	return r
}

// number gives a body its number, if its kind has one and it has none yet; coming is how many more will follow at once.
func (l *kindLog) number(ctx context.Context, account fleet.AccountID, body any, coming int) error {
	b, ok := body.(interface{ numbered() *Numbered })
	if !ok || b.numbered().Number != "" {
		return nil
	}
	store, block := l.store, numberBlock
	if store.draft != nil {
		store, block = store.draft.under, draftNumbers
	}
	r := store.numbers.of(numberSeries{account, l.name})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == r.end {
		count := max(block, coming)
		last, err := store.setAside(ctx, account, l.name, count)
		if err != nil {
			return err
		}
		r.next, r.end = last-count+1, last+1
	}
	b.numbered().Number = l.letter + "-" + strconv.Itoa(r.next)
	r.next++
	return nil
}

// setAside takes the next numbers of a kind for this process alone, by compare-and-set, and returns the last of them.
func (s *Store) setAside(ctx context.Context, account fleet.AccountID, kind string, count int) (int, error) {
	counters, by := NewLog(s, Counters), Author{Actor: "system", Command: NewCommand()}
	id := fleet.DerivedID(fleet.Kind("counter "+kind), fleet.VehicleKey{Account: account}, 0, 0)
	for {
		rec, err := counters.Update(ctx, by, account, id, 0, func(r *Record[Counter]) error {
			r.Body.Last += count
			return nil
		})
		if fleet.CodeOf(err) != fleet.CodeNotFound {
			return rec.Body.Last, err
		}
		if _, _, err := counters.Ensure(ctx, by, account, id, Counter{Of: kind, Last: firstNumber - 1}); err != nil {
			return 0, err
		}
	}
}
