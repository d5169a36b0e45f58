package ledger

import "github.com/motorpool/fleet/api/record"

// OfJournalEntry returns what ought to stand because of an entry by hand: its lines on its day and, once it is
// reversed, their opposite on the day of that. Its memos stay with it: they are words that people write, and entries of
// the ledger are for ever.
func OfJournalEntry(j *record.JournalEntry) []Posting {
	k := &book{}
	purpose := ""
	if j.Opening {
		purpose = "opening balance"
	}
	k.lines(j, dayOr(j.On, 0), 1, purpose)
	if j.Status == record.JournalReversed {
		k.lines(j, dayOr(j.ReversedOn, 0), -1, "reversal")
	}
	return Sum(k.postings)
}

// lines books the lines of an entry by hand on a day, or with the sign -1 their opposite.
func (k *book) lines(j *record.JournalEntry, day Day, sign int64, purpose string) {
	for i := range j.Lines {
		l := &j.Lines[i]
		var dims Dims
		if i < len(j.BookedFor) {
			dims.Customer = l.CustomerID
			dims.booked(&j.BookedFor[i])
		}
		m := l.Signed()
		k.postings = append(k.postings, Posting{Day: day, Account: Account(l.LedgerAccount), Currency: m.Currency,
			Amount: sign * m.Amount, Purpose: purpose, Dims: dims})
	}
}
