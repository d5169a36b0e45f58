//go:build long

package api

import (
	"fmt"
	"strings"
	"testing"
)

// A file of entries is brought in: what balances is posted, and the rest is told.
func TestJournalEntriesAreImported(t *testing.T) {
	w := newWorld(t)
	file := "on,opening,memo,lines.0.ledger_account,lines.0.debit.amount,lines.0.debit.currency," +
		"lines.1.ledger_account,lines.1.credit.amount,lines.1.credit.currency,external_refs.0.system,external_refs.0.id\n" +
		"2026-01-31,true,Bank,cash,1000,USD,opening_balance,1000,USD,old,1\n" +
		"2026-01-31,true,Till,cash,500,USD,opening_balance,400,USD,old,2\n"
	wantEqual(t, "job", outcome(w.bringIn("kind=journal_entries&format=csv", file)), "done 2/2 1+1")
	wantEqual(t, "books", fmt.Sprint(w.balances("2026-01-31")), "map[cash USD:1000 opening_balance USD:-1000]")
	wantEqual(t, "again", outcome(w.bringIn("kind=journal_entries&format=csv", file)), "done 2/2 0+2")
	if out := w.Fetch("kind=journal_entries&format=csv"); !strings.Contains(out, "opening_balance") ||
		strings.Count(out, "\n") != 2 {
		t.Errorf("exported is %s", out)
	}
	w.audited()
}
