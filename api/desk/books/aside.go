package books

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
)

// Aside are transactions of revisions that were decided in memory and are not written yet. It is safe for concurrent
// use.
type Aside struct {
	mu  sync.Mutex
	all map[uint64]transaction
}

// add keeps a transaction, unless it is there.
func (a *Aside) add(t transaction) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[uint64]transaction{}
	}
	if _, there := a.all[t.id]; !there {
		a.all[t.id] = t
	}
}

// PostAside posts transactions whose revisions stand by now, in two inserts. Who dies in between, or before, leaves
// revisions that are not marked as settled, and Post does for each of them what is missing. It may post one of them at
// this moment: then that has two rows, which replace each other as they say the same, and so have its entries. Only
// if the books were closed between the two they may say different days; doctor --books would tell.
func (d *Books) PostAside(ctx context.Context, some ...*Aside) error {
	var all []transaction
	for _, a := range some {
		for _, t := range a.all {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b transaction) int { return cmp.Compare(a.id, b.id) })
	hash := fnv.New64a()
	for i := range all {
		fmt.Fprintf(hash, "%d ", all[i].id)
	}
	token := fmt.Sprintf("ledger:aside:%d:%x", len(all), hash.Sum64())
	if err := d.decideOn(ctx, token, all...); err != nil {
		return err
	}
	return d.enter(ctx, token, func(int) bool { return true }, all...)
}
