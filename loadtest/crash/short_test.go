//go:build !long

package crash

import "time"

// How much is asked of the crash tests.
const (
	kills, fixes = 5, 11_000
	joins        = 2
	ledgerKills  = 2
	settleLedger = 0 * time.Second // what a dead process left is posted 15 s later
)
