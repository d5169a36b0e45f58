package rent

import (
	"fmt"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// JournalEntry is an entry by hand in the books, as it is answered.
type JournalEntry struct {
	ID string `json:"id" doc:"Identity." example:"jnl_1234"`

	record.JournalEntryFields

	Number         string             `json:"number" doc:"What people call it by; given once in the account, and rising, with some left out." example:"J-1042"`
	Object         string             `json:"object" doc:"Always journal_entry." example:"journal_entry"`
	Status         string             `json:"status" doc:"posted or reversed."`
	Total          record.Money       `json:"total" doc:"The sum of its debits; its credits are as much."`
	ReversedOn     *string            `json:"reversed_on" format:"date" doc:"The local day on which its opposite counts."`
	ReversedAt     record.Instant     `json:"reversed_at"`
	ReversalReason string             `json:"reversal_reason,omitempty"`
	BookedFor      []record.BookedFor `json:"booked_for" nullable:"false" doc:"Of each line: under what it stands in the ledger, as was true when it was posted."`

	rest.Stamps
}

// JournalReversal is the body of the action that takes an entry by hand back.
type JournalReversal struct {
	On     string `json:"on,omitempty" format:"date" doc:"The local day on which the opposite counts, not before the entry itself; today unless given."`
	Reason string `json:"reason,omitempty" maxLength:"500"`
}

func (a *API) journalEntryRoutes() {
	s := &rest.Resource[record.JournalEntry]{
		Server: a.Server, Log: a.desk.Journal, Listing: &query.JournalEntries,
		Titles: rest.Titles{Path: "/v1/journal_entries", Tag: "Ledger", Noun: "journal entry", Nouns: "journal entries",
			About: "What the books should have that follows from no other record: opening balances, what owners put in or take " +
				"out, corrections of an accountant. It is posted at once on its day, which must be open, and cannot be changed or " +
				"archived: reverse it and write another. It may touch every account of the chart. A line names no booking, so " +
				"that what stands for each booking always follows from its own record."},
		Scope:    rest.Scopes{Read: auth.FinanceRead, Write: auth.FinanceWrite},
		Views:    rest.Views{View: JournalEntry{}, Fields: record.JournalEntryFields{}, States: record.JournalStates},
		Writable: func(j *record.JournalEntry) any { return &j.JournalEntryFields },
		Show: rest.ShowEach(func(rec record.Record[record.JournalEntry]) any {
			j := &rec.Body
			return JournalEntry{ID: fleet.FormatID(fleet.JournalEntryPrefix, rec.ID), JournalEntryFields: j.JournalEntryFields,
				Number: j.Number, Object: "journal_entry", Status: j.Status, Total: j.Total(),
				ReversedOn: rest.TextOrNull(j.ReversedOn), ReversedAt: j.ReversedAt, ReversalReason: j.ReversalReason,
				BookedFor: j.BookedFor, Stamps: rest.StampsOf(rec)}
		}),
		Prepare: func(r *http.Request, id uint64, before, after *record.JournalEntry) error {
			if before != nil {
				return &record.TransitionError{What: "journal entry " + fleet.FormatID(fleet.JournalEntryPrefix, id),
					Current: before.Status, Wanted: "a change", Because: "and what is posted is not changed; reverse it and write another"}
			}
			after.Status = record.JournalPosted
			if faults := journalFaults(after); faults != nil {
				return fleet.Invalid(faults...)
			}
			return a.desk.Books.JournalFor(r.Context(), auth.From(r.Context()).Account, after)
		},
	}
	s.Register("replace", "patch", "archive")
	rest.Act(s, rest.Action[record.JournalEntry, JournalReversal]{
		Verb: "reverse", Summary: "Reverse a journal entry", Optional: true,
		About: "Posts its opposite, once. Both stay in the books.", Refuses: "One that is reversed",
		Do: func(c *rest.Call[record.JournalEntry], sent JournalReversal) (record.Record[record.JournalEntry], error) {
			return a.reverseJournalEntry(c, sent)
		},
	})
}

func (a *API) reverseJournalEntry(c *rest.Call[record.JournalEntry],
	sent JournalReversal) (record.Record[record.JournalEntry], error) {
	if sent.On == "" {
		today, err := a.desk.Books.Today(c.Context(), c.Account)
		if err != nil {
			return record.Record[record.JournalEntry]{}, err
		}
		sent.On = today.Format(time.DateOnly)
	}
	return c.Update(func(rec *record.Record[record.JournalEntry]) error {
		faults := dayFaults("/on", sent.On)
		if faults == nil && sent.On < rec.Body.On {
			faults = []fleet.FieldError{{Pointer: "/on", Code: "out_of_range",
				Detail: "must not be before " + rec.Body.On + ", the day of the entry"}}
		}
		if err := record.Reverse(rec, sent.On, record.InstantOf(a.Now()), sent.Reason); err != nil {
			return err
		}
		if faults != nil {
			return fleet.Invalid(faults...)
		}
		return a.desk.Books.Open(c.Context(), c.Account, "/on", sent.On)
	})
}

// journalFaults says what is wrong with an entry by hand in itself.
func journalFaults(j *record.JournalEntry) []fleet.FieldError {
	faults := dayFaults("/on", j.On)
	var debits, credits record.Money
	for i := range j.Lines {
		l, at := &j.Lines[i], fmt.Sprintf("/lines/%d", i)
		wrong := lineFaults(l, at, j.Opening)
		m := l.Signed()
		if first := j.Lines[0].Signed().Currency; wrong == nil && m.Currency != first && first != "" {
			wrong = []fleet.FieldError{{Pointer: at, Code: "currency_mismatch", Detail: "is in " + m.Currency +
				", and the first line in " + first + "; write an entry of its own for each currency"}}
		}
		faults = append(faults, wrong...)
		debits = record.Money{Amount: debits.Amount + max(m.Amount, 0), Currency: m.Currency}
		credits = record.Money{Amount: credits.Amount - min(m.Amount, 0), Currency: m.Currency}
	}
	if faults == nil && debits.Amount > price.Limit {
		return []fleet.FieldError{{Pointer: "/lines", Code: "out_of_range", Detail: "the debits come to " +
			price.Format(debits) + ", and an entry to at most " + price.Format(record.Money{Amount: price.Limit,
			Currency: debits.Currency}) + "; write several"}}
	}
	if faults == nil && debits != credits {
		more, less, off := "debits", "credits", debits.Amount-credits.Amount
		if off < 0 {
			more, less, off = less, more, -off
		}
		faults = []fleet.FieldError{{Pointer: "/lines", Code: "unbalanced", Detail: fmt.Sprintf(
			"the %s are %s more than the %s: %s of debits and %s of credits; both must come to the same", more,
			price.Format(record.Money{Amount: off, Currency: debits.Currency}), less, price.Format(debits),
			price.Format(credits))}}
	}
	return faults
}

// lineFaults says what is wrong with a line of an entry by hand, whose pointer is at.
func lineFaults(l *record.JournalLine, at string, opening bool) (faults []fleet.FieldError) {
	line, ok := ledger.LineOf(ledger.Account(l.LedgerAccount))
	switch {
	case !ok:
		faults = append(faults, fleet.FieldError{Pointer: at + "/ledger_account", Code: "invalid",
			Detail: "is no account of the chart; GET /v1/ledger/chart lists them"})
	case opening && line.Measure != "":
		faults = append(faults, fleet.FieldError{Pointer: at + "/ledger_account", Code: "invalid", Detail: line.Name +
			" is of type " + line.Type + ", which has no opening balance; what was earned and spent before stands on " +
			string(ledger.RetainedEarnings)})
	}
	switch {
	case l.Debit == nil && l.Credit == nil:
		faults = append(faults, fleet.FieldError{Pointer: at + "/debit", Code: "required",
			Detail: "or credit must be given"})
	case l.Debit != nil && l.Credit != nil:
		faults = append(faults, fleet.FieldError{Pointer: at + "/credit", Code: "one_of",
			Detail: "must not be given with debit; write a line for each"})
	case l.Debit != nil:
		faults = append(faults, moneyFaults(at+"/debit", *l.Debit, 1, price.Limit)...)
	default:
		faults = append(faults, moneyFaults(at+"/credit", *l.Credit, 1, price.Limit)...)
	}
	return faults
}
