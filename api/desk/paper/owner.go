package paper

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/paperwork"
	"github.com/motorpool/fleet/query"
)

// Owner makes the statement of an owner of vehicles for a month that is over. It tells what the ledger has of the days
// on which vehicles were the owner's, until the end of that month, and no statement of it has told: so statements add
// up to the books, and what was corrected in an earlier month is on the next statement. The first one begins with its
// month. One of a month before all days that were told can be made afterwards: it tells of that month, and the next one
// of what lies between. Whose a day was, and for which share, is what the vehicle said by the end of it (see
// ownerSpans).
func (d *Papers) Owner(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	o Order) (rec, error) {
	return d.make(ctx, by, account, id, record.OwnerStatements, false, func() (record.Paper, error) {
		return d.ownerStatement(ctx, account, o)
	})
}

func (d *Papers) ownerStatement(ctx context.Context, account fleet.AccountID, o Order) (record.Paper, error) {
	var none record.Paper
	if err := d.customerThere(ctx, account, "/owner_customer_id", o.CustomerID); err != nil {
		return none, err
	}
	s, err := d.settingOf(ctx, account)
	if err != nil {
		return none, err
	}
	if o.Currency == "" {
		o.Currency = s.currency
	}
	first, err := time.Parse("2006-01", o.Month)
	if err != nil {
		return none, fleet.Invalid(fleet.FieldError{Pointer: "/month", Code: "invalid",
			Detail: "is no month like 2026-10"})
	}
	last := first.AddDate(0, 1, -1).Format(time.DateOnly)
	if today := dayOf(record.InstantOf(d.Now()), s.zone); today <= last {
		return none, fleet.Invalid(fleet.FieldError{Pointer: "/month", Code: "out_of_range",
			Detail: "is not over; its last day is " + last})
	}
	if err := d.Store.MendNow(ctx, record.OwnerStatements.Name); err != nil {
		return none, err
	}
	stored, err := query.PapersOfOwner(ctx, d.DB, account, record.OwnerStatements.Name, o.CustomerID, o.Currency)
	if err != nil {
		return none, err
	}
	earlier, place, err := decoded(account, stored)
	if err != nil {
		return none, err
	}
	from := first.Format(time.DateOnly)
	var told []record.PaperLine
	for _, e := range earlier {
		if e.Body.Month >= o.Month {
			if e.Body.About.From > last {
				continue // it tells of later days alone
			}
			return none, fleet.NewError(fleet.CodeConflict, "The days of "+o.Month+" are on the statement "+
				cmp.Or(e.Body.Number, "for "+e.Body.Month)+" of this owner already, which tells of "+e.Body.About.From+" until "+
				e.Body.About.Until+". What was corrected since is on the next statement.")
		}
		from = min(from, e.Body.About.From)
		told = append(told, e.Body.Lines...)
	}
	content, err := d.ownerContent(ctx, account, o, from, last, told, s)
	if err != nil {
		return none, err
	}
	content.About = &record.PaperSubject{From: from, Until: last}
	return record.Paper{PaperFields: o.PaperFields, CustomerID: o.CustomerID, Month: o.Month, Currency: o.Currency,
		Place: place, PaperContent: content}, nil
}

// ownerContent reads the ledger of the days on which vehicles were an owner's, and makes a statement of what was not
// told.
func (d *Papers) ownerContent(ctx context.Context, account fleet.AccountID, o Order, from, until string,
	told []record.PaperLine, s setting) (record.PaperContent, error) {
	var none record.PaperContent
	days, err := query.OwnerDays(ctx, d.DB, account, o.CustomerID, s.zone.String())
	if err != nil {
		return none, err
	}
	spans := ownerSpans(days, o.CustomerID, from, until)
	if len(spans) == 0 {
		return none, fleet.Invalid(fleet.FieldError{Pointer: "/owner_customer_id", Code: "invalid",
			Detail: "owned no vehicle until " + until + "; a vehicle names its owner by owner_customer_id"})
	}
	accounts := paperwork.OwnerAccounts(paperwork.OwnersCosts(s.settings))
	entries, err := query.OwnerLedger(ctx, d.DB, account, spans, o.Currency, accounts)
	if err != nil {
		return none, err
	}
	vehicles := map[uint64]string{}
	for _, day := range days {
		vehicles[day.Vehicle] = fleet.FormatID(fleet.VehiclePrefix, day.Vehicle)
	}
	var refs []record.Ref
	for id := range vehicles {
		refs = append(refs, record.Ref{Kind: d.Vehicles.Kind().Name, ID: id})
	}
	amounts := make([]paperwork.OwnerAmount, len(entries))
	for i, e := range entries {
		amounts[i] = paperwork.OwnerAmount{VehicleID: vehicles[e.Vehicle], Account: e.Account, ShareBP: e.ShareBP,
			Amount: -e.Amount, On: e.On.Format(time.DateOnly)}
		if e.Booking != 0 {
			amounts[i].BookingID = fleet.FormatID(fleet.BookingPrefix, e.Booking)
			refs = append(refs, record.Ref{Kind: d.Bookings.Kind().Name, ID: e.Booking})
		}
		if e.Cost != 0 {
			amounts[i].CostID = fleet.FormatID(ledger.Kinds[e.Kind], e.Cost)
			refs = append(refs, record.Ref{Kind: e.Kind, ID: e.Cost})
		}
	}
	seen, err := d.Store.See(ctx, account, refs...)
	if err != nil {
		return none, err
	}
	words := map[string]string{}
	for id, name := range vehicles {
		v, _, err := d.Vehicles.In(seen, account, id)
		if err != nil {
			return none, err
		}
		words[name] = vehicleWords(&v.Body)
	}
	told = only(told, accounts)
	content := paperwork.Owner(o.Currency, amounts, told, words)
	for i := range content.Lines {
		describe(&content.Lines[i], seen, d.Bookings.Kind().Name, d.Expenses.Kind().Name)
	}
	return content, nil
}

// ownerSpans are the days from one to another on which vehicles are an owner's, or if that is "" anybody's. What
// the last revision of a local day says counts from that day until the day of the next one, so that a day has one
// owner and one share, and both stand once the day is over: statements of several owners never tell a day twice. A
// vehicle that nobody owned yet is its first owner's from its beginning, because an owner who is typed in late was
// the owner before.
//
//	revisions  ──no owner──│──A, 70 %──────│──A, 50 %──────│──B──────────
//	days       ◄─────────── A, 70 % ───────┤── A, 50 % ────┤── B ───────►
func ownerSpans(days []query.OwnerDay, owner, from, until string) []query.OwnerSpan {
	var spans []query.OwnerSpan
	owned := false
	for i, d := range days {
		if i > 0 && days[i-1].Vehicle != d.Vehicle {
			owned = false
		}
		first, last := max(from, d.Day.Format(time.DateOnly)), until
		if !owned {
			first = from
		}
		owned = owned || d.Owner != ""
		if i+1 < len(days) && days[i+1].Vehicle == d.Vehicle {
			last = min(until, days[i+1].Day.AddDate(0, 0, -1).Format(time.DateOnly))
		}
		if d.Owner != "" && (owner == "" || d.Owner == owner) && first <= last {
			spans = append(spans, query.OwnerSpan{Vehicle: d.Vehicle, Owner: d.Owner, From: first, Until: last,
				ShareBP: d.ShareBP})
		}
	}
	return spans
}

// only are the lines of some accounts: a category of costs that the owner bears no more is not given back.
func only(lines []record.PaperLine, accounts []string) []record.PaperLine {
	var kept []record.PaperLine
	for _, l := range lines {
		for _, account := range accounts {
			if l.Account == account {
				kept = append(kept, l)
			}
		}
	}
	return kept
}

// describe says in words of which booking or cost a line is.
func describe(l *record.PaperLine, seen *record.Seen, bookings, expenses string) {
	if id, err := fleet.ParseID(fleet.BookingPrefix, l.BookingID); err == nil {
		var b record.Numbered
		if body, ok := seen.Body(record.Ref{Kind: bookings, ID: id}); ok && json.Unmarshal([]byte(body), &b) == nil {
			l.Booking = b.Number
		}
	}
	line, _ := ledger.LineOf(ledger.Account(l.Account))
	l.Description = line.Name
	if id, err := fleet.ParseID(fleet.ExpensePrefix, l.ChargeID); err == nil {
		var e struct {
			Vendor string `json:"vendor"`
		}
		if body, ok := seen.Body(record.Ref{Kind: expenses, ID: id}); ok && json.Unmarshal([]byte(body), &e) == nil {
			l.Description = strings.TrimSuffix(fmt.Sprintf("%s: %s", l.Description, e.Vendor), ": ")
		}
	}
}
