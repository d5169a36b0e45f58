package record

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Leases of node numbers, which keep the ids of processes apart. A lease is a claim on the number that is renewed; it
// is another's to take when it was not for nodeLease, by the server's clock. Its holder stops using it long before, by
// its own, so that clocks that run apart and a process that was suspended do no harm. It is never given back: who took
// it at once could make ids of the same milliseconds. That ids differ is what this makes likely; that it does no harm
// if they do not is promised by ErrTaken.
const (
	nodeLease   = 30 * time.Minute
	nodeUsed    = nodeLease / 2 // by the holder, since before it asked
	nodeRenewal = nodeLease / 6
	nodeField   = "node"
)

// node is a leased node number.
type node struct {
	number   uint64
	revision uint64 // of our claim on it; zero if there is none
}

// HoldNode leases a node number for the ids that the store makes, and keeps it until ctx ends.
func (s *Store) HoldNode(ctx context.Context) error {
	ticker := time.NewTicker(nodeRenewal)
	defer ticker.Stop()
	for {
		if err := s.LeaseNode(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx,
				"no node number could be leased, and it is tried again; ids are made with a number that other processes may have",
				"error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// LeaseNode renews the lease of the store's node number, or takes one that is free if there is none, or another process
// has it by now.
func (s *Store) LeaseNode(ctx context.Context) error {
	s.leasing.Lock()
	defer s.leasing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	if s.node.revision != 0 {
		if err := s.claimNode(ctx, s.node); !errors.Is(err, errLost) {
			return err
		}
		s.node = node{}
	}
	free, err := s.freeNodes(ctx)
	if err != nil {
		return err
	}
	rand.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	for _, n := range free {
		if err := s.claimNode(ctx, n); !errors.Is(err, errLost) {
			return err
		}
	}
	return fmt.Errorf("all %d node numbers are leased", fleet.LeasedNodes)
}

// claimNode makes the claim that follows n's, and has the ids made with it.
func (s *Store) claimNode(ctx context.Context, n node) (err error) {
	until, expires := s.ids.Now().Add(nodeUsed), s.now().Add(nodeLease)
	if n.revision, err = s.setClaim(ctx, 0, nodeField, strconv.FormatUint(n.number, 10), n.revision, RandomID(), &expires,
		""); err != nil {
		return fmt.Errorf("lease node %d: %w", n.number, err)
	}
	s.node = n
	s.ids.Lease(n.number, until)
	return nil
}

// freeNodes returns the node numbers that may be leased, with the revisions of the claims that they had.
func (s *Store) freeNodes(ctx context.Context) ([]node, error) {
	held := make(map[string]uint64)
	lapsed := make(map[string]bool)
	err := schemas.EachRow(ctx, s.db, "read leases of nodes", schemas.Query("nodes_held"), nil,
		func(row schemas.Row) error {
			var value string
			var revision uint64
			var ms int64
			if err := row.Scan(&value, &revision, &ms); err != nil {
				return err
			}
			held[value], lapsed[value] = revision, time.Duration(ms)*time.Millisecond >= nodeLease
			return nil
		})
	if err != nil {
		return nil, err
	}
	var free []node
	for n := range uint64(fleet.LeasedNodes) {
		value := strconv.FormatUint(n, 10)
		if revision := held[value]; revision == 0 || lapsed[value] {
			free = append(free, node{n, revision})
		}
	}
	return free, nil
}
