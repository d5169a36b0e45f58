//go:build long

package crash

import "time"

// How much is asked of the crash tests.
const (
	kills, fixes = 24, 50_000
	joins        = 6
	ledgerKills  = 25
	settleLedger = 90 * time.Second
)
