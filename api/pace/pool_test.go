package pace

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestNobodyGetsMoreThanAShare claims, waits and gives back, and in the end nothing is left.
func TestNobodyGetsMoreThanAShare(t *testing.T) {
	f := NewPool(3, 2)
	one, again, two, three := f.Claim("one"), f.Claim("one"), f.Claim("two"), f.Claim("three")
	at := func(c *Claim, n int64, want error) {
		t.Helper()
		if err := c.Try(n); !errors.Is(err, want) {
			t.Errorf("try %d: %v, want %v", n, err, want)
		}
	}
	at(one, 2, nil)
	at(again, 1, ErrShare)
	at(two, 1, nil)
	at(three, 1, ErrAll)
	ended, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := again.Take(ended, 1); !errors.Is(err, ErrShare) {
		t.Errorf("waiting for a share of one's own: %v", err)
	}
	ended, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := three.Take(ended, 1); !errors.Is(err, ErrAll) {
		t.Errorf("waiting for the others: %v", err)
	}
	got := make(chan error)
	go func() { got <- three.Take(t.Context(), 10) }() // more than a share counts as one
	one.End()
	if err := <-got; err != nil || three.has != 2 {
		t.Errorf("after another's end: %v, has %d", err, three.has)
	}
	for _, c := range []*Claim{again, two, three} {
		c.End()
	}
	if len(f.Owners()) != 0 {
		t.Errorf("%d owners are left", len(f.Owners()))
	}
	at(f.Claim("four"), 2, nil)
}
