package books

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/query"
)

// keepBooks has each revision of a record that has a part in the books posted.
func (d *Books) keepBooks() {
	for kind := range ledger.Kinds {
		d.Store.Beside(kind, "ledger", d.Post)
	}
}

// postTries is how often the row or the entries of a transaction are sent that the server has not, though it takes
// them for a repetition.
const postTries = 4

// Post writes the transaction of a revision: what ought to stand after it less what ought to stand before it. A
// revision that changes nothing in the books has none.
//
// The row of ledger_transactions decides: of several that post one revision, at once or after years, one stands, also
// if the books were closed in between. The entries are then written from that row, always the same under the same
// token, by whoever comes by. A server that was killed may know a token and not have its rows: so they are looked
// for, and what is missing is sent under the next token.
func (d *Books) Post(ctx context.Context, w record.Written) error {
	id := ledger.TransactionID(w.Account, w.Kind, w.ID, w.Revision)
	if d.Aside != nil {
		entries, knownOn, err := d.entriesOf(ctx, w)
		if err == nil && len(entries) > 0 {
			w.Before, w.After = nil, nil // which are large
			d.Aside.add(transaction{w, id, knownOn, entries, d.Now()})
		}
		return err
	}
	if none, err := nothing(w); none || err != nil {
		return err
	}
	for decided, entered := 0, 0; decided < postTries && entered < postTries; {
		text, missing, err := query.PostedEntries(ctx, d.DB, w.Account, id)
		switch {
		case err != nil:
			return err
		case text == "":
			entries, knownOn, err := d.entriesOf(ctx, w)
			if err != nil || len(entries) == 0 {
				return err
			}
			if err := d.decideOn(ctx, postToken(id, decided, nil),
				transaction{w, id, knownOn, entries, d.Now()}); err != nil {
				return err
			}
			decided++
		case len(missing) == 0:
			return nil
		default:
			var entries []ledger.Entry
			if err := json.Unmarshal([]byte(text), &entries); err != nil {
				return fmt.Errorf("decode the entries of ledger transaction %d: %w", id, err)
			}
			all := entered == 0
			wanted := func(no int) bool { return all || slices.Contains(missing, no) }
			if err := d.enter(ctx, postToken(id, entered, missing), wanted,
				transaction{w: w, id: id, entries: entries}); err != nil {
				return err
			}
			entered++
		}
	}
	return fmt.Errorf("post ledger transaction %d: ClickHouse takes its rows for repetitions, and does not have them", id)
}

// postToken is the token of an insert of a transaction or its entries: one for all who come by, and others for what
// is missing after that.
func postToken(id uint64, tries int, missing []int) string {
	if tries == 0 {
		return fmt.Sprintf("ledger:%d", id)
	}
	return fmt.Sprintf("ledger:%d:%d:%v", id, tries, missing)
}

// nothing says whether neither the revision nor the one before has anything in the books, as is so for most.
func nothing(w record.Written) (bool, error) {
	before, after, err := ledger.Of(w, time.UTC)
	return err == nil && len(before)+len(after) == 0, err
}

// entriesOf works out the entries of a revision, and the local day on which it became known.
func (d *Books) entriesOf(ctx context.Context, w record.Written) ([]ledger.Entry, ledger.Day, error) {
	zone, closed, err := d.booksOf(ctx, w.Account)
	if err != nil {
		return nil, 0, err
	}
	before, after, err := ledger.Of(w, zone)
	if err != nil {
		return nil, 0, err
	}
	if err := cmp.Or(d.classify(ctx, w, w.Before, before), d.classify(ctx, w, w.After, after)); err != nil {
		return nil, 0, err
	}
	postings := ledger.Between(before, after)
	knownOn := ledger.DayOf(w.At, zone)
	return ledger.Entries(postings, knownOn, closed), knownOn, nil
}

// booksOf returns the zone of an account's days, and the day through which its books are closed, 0 for none.
func (d *Books) booksOf(ctx context.Context, account fleet.AccountID) (*time.Location, ledger.Day, error) {
	r, err := d.Accounts.Get(ctx, account, uint64(account))
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return time.UTC, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	zone := fleet.ZoneOf(r.Body.Timezone)
	closed := ledger.Day(0)
	if r.Body.BooksClosed != "" {
		if closed, err = ledger.ParseDay(r.Body.BooksClosed); err != nil {
			return nil, 0, fmt.Errorf("account %s: books closed through: %w", account, err)
		}
	}
	return zone, closed, nil
}

// Zone is the time zone of an account's days.
func (d *Books) Zone(ctx context.Context, account fleet.AccountID) (*time.Location, error) {
	zone, _, err := d.booksOf(ctx, account)
	return zone, err
}

// Today is the midnight in UTC of the present day in an account's zone.
func (d *Books) Today(ctx context.Context, account fleet.AccountID) (time.Time, error) {
	zone, _, err := d.booksOf(ctx, account)
	if err != nil {
		return time.Time{}, err
	}
	return ledger.DayOf(d.Now(), zone).Time(), nil
}

// classify gives the postings of a work order or a toll that keeps no class the class and place that the vehicle has
// now: of those that were written before these were kept. All others say under what they are booked, so that they are
// reversed as they were posted.
func (d *Books) classify(ctx context.Context, w record.Written, body json.RawMessage, postings []ledger.Posting) error {
	if len(postings) == 0 || w.Kind != record.WorkOrders.Name && w.Kind != record.Tolls.Name {
		return nil
	}
	var kept struct {
		BookedFor record.BookedFor `json:"booked_for"`
	}
	if err := json.Unmarshal(body, &kept); err != nil {
		return fmt.Errorf("decode %s %d: %w", w.Kind, w.ID, err)
	}
	if kept.BookedFor.Timezone != "" {
		return nil
	}
	found := map[string]*record.Vehicle{}
	for i := range postings {
		p := &postings[i]
		id, err := fleet.ParseID(fleet.VehiclePrefix, p.Vehicle)
		if err != nil || p.Class != "" {
			continue
		}
		v, ok := found[p.Vehicle]
		if !ok {
			r, err := d.Vehicles.Get(ctx, w.Account, id)
			if err != nil && fleet.CodeOf(err) != fleet.CodeNotFound {
				return err
			}
			v = &r.Body
			found[p.Vehicle] = v
		}
		if p.Class = v.ClassID; p.Location == "" {
			p.Location = v.HomeLocationID
		}
	}
	return nil
}

// transaction is a row of ledger_transactions, with the entries that follow from it.
type transaction struct {
	w       record.Written
	id      uint64
	knownOn ledger.Day
	entries []ledger.Entry
	posted  time.Time
}

// decideOn writes the rows of transactions of which none stands, together.
func (d *Books) decideOn(ctx context.Context, token string, all ...transaction) error {
	doing := "post ledger transaction " + strconv.FormatUint(all[0].id, 10)
	batch, err := d.DB.PrepareBatch(record.WithToken(ctx, token), `INSERT INTO ledger_transactions
		(account, id, write_id, kind, source, revision, occurred_at, posted_at, known_on, actor, request_id, booking, customer, vehicles, currencies, debits, entry_count, entries)`)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	for i := range all {
		if err := all[i].appendTo(batch); err != nil {
			batch.Abort()
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func (t *transaction) appendTo(batch driver.Batch) error {
	text, err := json.Marshal(t.entries)
	if err != nil {
		return fmt.Errorf("encode the entries: %w", err)
	}
	vehicles, debits := map[uint64]bool{}, map[string]int64{}
	var booking, customer uint64
	for _, e := range t.entries {
		if v := number(fleet.VehiclePrefix, e.Vehicle); v != 0 {
			vehicles[v] = true
		}
		booking, customer = max(booking, number(fleet.BookingPrefix, e.Booking)),
			max(customer, number(fleet.CustomerPrefix, e.Customer))
		debits[e.Currency] += max(e.Amount, 0)
	}
	currencies := slices.Sorted(maps.Keys(debits))
	sums := make([]int64, len(currencies))
	for i, c := range currencies {
		sums[i] = debits[c]
	}
	w := &t.w
	return batch.Append(uint64(w.Account), t.id, rand.Uint64(), w.Kind, w.ID, w.Revision, w.At, t.posted,
		t.knownOn.Time(), w.Actor, w.RequestID, booking, customer, slices.Sorted(maps.Keys(vehicles)), currencies, sums,
		uint32(len(t.entries)), string(text))
}

// enter writes those entries of transactions that stand which are wanted, by their numbers. The first who come by
// want all of them, under one token, so that those which are there are not written twice.
func (d *Books) enter(ctx context.Context, token string, wanted func(no int) bool, all ...transaction) error {
	doing := "enter ledger transaction " + strconv.FormatUint(all[0].id, 10)
	batch, err := d.DB.PrepareBatch(record.WithToken(ctx, token), `INSERT INTO ledger_entries
		(account, local_date, ledger_account, transaction, entry_no, id, amount, currency, use_date, vehicle, class, booking, customer, location, channel, purpose, kind, source, occurred_at, entered_at)`)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	now := time.Now()
	for i := range all {
		t := &all[i]
		for i, e := range t.entries {
			no := i + 1
			if !wanted(no) {
				continue
			}
			if err := batch.Append(uint64(t.w.Account), e.On.Time(), string(e.Account), t.id, uint32(no),
				ledger.EntryID(t.id, no), e.Amount, e.Currency, e.Day.Time(), number(fleet.VehiclePrefix, e.Vehicle),
				number(fleet.ClassPrefix, e.Class), number(fleet.BookingPrefix, e.Booking),
				number(fleet.CustomerPrefix, e.Customer), number(fleet.LocationPrefix, e.Location), e.Channel, e.Purpose,
				t.w.Kind, t.w.ID, t.w.At, now); err != nil {
				batch.Abort()
				return fmt.Errorf("%s: %w", doing, err)
			}
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// number is that of a written id, 0 if it is none.
func number(prefix, text string) uint64 {
	id, _ := fleet.ParseID(prefix, text)
	return id
}
