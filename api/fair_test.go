package api

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestNobodyGetsMoreThanAShare claims, waits and gives back, and in the end nothing is left.
func TestNobodyGetsMoreThanAShare(t *testing.T) {
	f := newFair(3, 2)
	one, again, two, three := f.claim("one"), f.claim("one"), f.claim("two"), f.claim("three")
	at := func(c *claim, n int64, want error) {
		t.Helper()
		if err := c.try(n); !errors.Is(err, want) {
			t.Errorf("try %d: %v, want %v", n, err, want)
		}
	}
	at(one, 2, nil)
	at(again, 1, errShare)
	at(two, 1, nil)
	at(three, 1, errAll)
	ended, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := again.take(ended, 1); !errors.Is(err, errShare) {
		t.Errorf("waiting for a share of one's own: %v", err)
	}
	ended, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := three.take(ended, 1); !errors.Is(err, errAll) {
		t.Errorf("waiting for the others: %v", err)
	}
	got := make(chan error)
	go func() { got <- three.take(t.Context(), 10) }() // more than a share counts as one
	one.end()
	if err := <-got; err != nil || three.has != 2 {
		t.Errorf("after another's end: %v, has %d", err, three.has)
	}
	for _, c := range []*claim{again, two, three} {
		c.end()
	}
	if len(f.owners) != 0 {
		t.Errorf("%d owners are left", len(f.owners))
	}
	at(f.claim("four"), 2, nil)
}
