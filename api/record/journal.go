package record

import (
	"maps"
	"slices"

	"github.com/motorpool/fleet"
)

// JournalEntryFields are what callers write of an entry by hand in the books. It cannot be changed once it is posted.
type JournalEntryFields struct {
	On      string        `json:"on" format:"date" doc:"The local day of the books on which it counts. The books must be open on it; if they are closed in the very moment of the write, it counts on the first open day, as its ledger entries (GET /v1/ledger/entries with source_id) say."`
	Memo    string        `json:"memo,omitempty" maxLength:"1000" doc:"What it is for, in words. No names of persons: a line names a customer."`
	Opening bool          `json:"opening,omitempty" doc:"It opens balances that stood elsewhere before: it touches neither revenue nor cost, so that profit begins with what is worked here."`
	Lines   []JournalLine `json:"lines" minItems:"2" maxItems:"500" nullable:"false" doc:"Debits and credits of one currency, which sum to the same." example:"[{\"ledger_account\":\"cash\",\"debit\":{\"amount\":500000,\"currency\":\"USD\"}},{\"ledger_account\":\"equity\",\"credit\":{\"amount\":500000,\"currency\":\"USD\"}}]"`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// JournalLine is an amount on an account of the chart, a debit or a credit.
type JournalLine struct {
	LedgerAccount string `json:"ledger_account" doc:"The code of the account; GET /v1/ledger/chart lists them." example:"equity"`
	Debit         *Money `json:"debit,omitempty" doc:"What is added to what is owned or spent. A line has either debit or credit."`
	Credit        *Money `json:"credit,omitempty" doc:"What is added to what is owed, put in by owners or earned."`
	VehicleID     string `json:"vehicle_id,omitempty" example:"veh_1234" doc:"Of which it counts in reports; revenue and cost of none are the business's as a whole."`
	CustomerID    string `json:"customer_id,omitempty" example:"cus_1234"`
	LocationID    string `json:"location_id,omitempty" example:"loc_1234" doc:"The vehicle's home unless given."`
	Memo          string `json:"memo,omitempty" maxLength:"200"`
}

// Signed is the amount of a line in minor units, a debit positive, with its currency. A line has one of both.
func (l *JournalLine) Signed() Money {
	if l.Debit != nil {
		return *l.Debit
	}
	if l.Credit != nil {
		return Money{Amount: -l.Credit.Amount, Currency: l.Credit.Currency}
	}
	return Money{}
}

// JournalEntry is an entry by hand as it is stored.
type JournalEntry struct {
	JournalEntryFields
	Numbered
	Status         string      `json:"status"`                              // posted, reversed
	BookedFor      []BookedFor `json:"booked_for"`                          // of each line
	ReversedOn     string      `json:"reversed_on,omitempty" format:"date"` // the local day on which its opposite counts
	ReversedAt     Instant     `json:"reversed_at"`
	ReversalReason string      `json:"reversal_reason,omitempty"`
}

// Total is the sum of the debits, which is that of the credits, in minor units.
func (j *JournalEntry) Total() Money {
	var total Money
	for i := range j.Lines {
		m := j.Lines[i].Signed()
		total.Amount, total.Currency = total.Amount+max(m.Amount, 0), m.Currency
	}
	return total
}

// The states of an entry by hand: posted ──► reversed.
const (
	JournalPosted   = "posted"
	JournalReversed = "reversed"
)

var journalMoves = map[string][]string{JournalPosted: {JournalReversed}, JournalReversed: {}}

// JournalStates lists every state.
var JournalStates = slices.Sorted(maps.Keys(journalMoves))

// JournalEntries describes the kind.
var JournalEntries = Kind[JournalEntry]{Name: "journal_entry", Prefix: fleet.JournalEntryPrefix, Letter: "J",
	Claims: func(j *JournalEntry) []Claim { return refClaims("journal_entry", j.ExternalRefs) }}

// Reverse takes an entry by hand back by its opposite on a local day. A *TransitionError says that it was done before.
func Reverse(r *Record[JournalEntry], on string, at Instant, reason string) error {
	what := "journal entry " + fleet.FormatID(fleet.JournalEntryPrefix, r.ID)
	if err := moved(journalMoves, what, r.Body.Status, JournalReversed); err != nil {
		return err
	}
	r.Body.Status, r.Body.ReversedOn, r.Body.ReversedAt, r.Body.ReversalReason = JournalReversed, on, at, reason
	return nil
}
