package person

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/query"
)

// Whoever rents or drives is held against the do-not-rent list whenever a booking is made, changed, confirmed,
// extended or picked up, and what is found is noted in the booking. What changes later, a ban or what somebody is
// known by, is a revision of a customer, from which it follows that the bookings are looked at again that it may
// concern; a duty looks again at what two writers at once may have missed, and at what ends by itself.

// doNotRent registers the looks that nobody asks for.
func (d *Persons) doNotRent() {
	d.Store.Then(d.Customers.Kind().Name, "do-not-rent", d.lookAgain)
	d.AddDuty("bookings: do-not-rent", 5*time.Minute, d.auditList)
}

// mostListed bounds for how many on the list one booking is marked.
const mostListed = 10

// MayDrive refuses customers and drivers to whom nothing may be rented for the time of a booking, and notes who of
// them is, or may be, on the do-not-rent list. Whether that is refused too the settings say.
func (d *Persons) MayDrive(ctx context.Context, account fleet.AccountID, b *record.Booking,
	s record.BookingSettings) error {
	if err := d.noteListed(ctx, b, func(name string) (record.Record[record.Customer], error) {
		return d.renter(ctx, account, name, b.ReturnAt.Time)
	}); err != nil {
		return err
	}
	return refused(b, s.DoNotRent)
}

// LookUp notes in a booking who of it is, or may be, on the do-not-rent list, and refuses nothing.
func (d *Persons) LookUp(ctx context.Context, account fleet.AccountID, b *record.Booking) error {
	return d.noteListed(ctx, b, func(name string) (record.Record[record.Customer], error) {
		id, err := fleet.ParseID(fleet.CustomerPrefix, name)
		if err != nil {
			return record.Record[record.Customer]{}, err
		}
		return d.Customer(ctx, account, id)
	})
}

// noteListed notes in a booking who of those who rent and drive, each of whom find finds, is or may be on the
// do-not-rent list.
func (d *Persons) noteListed(
	ctx context.Context, b *record.Booking, find func(name string) (record.Record[record.Customer], error),
) error {
	var all []record.ListedMatch
	for _, name := range peopleOf(b) {
		rec, err := find(name)
		if err != nil {
			return err
		}
		found, err := d.listed(ctx, name, &rec)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	b.Listed = all[:min(len(all), mostListed)]
	return nil
}

// ListCheck says whether somebody described is on the do-not-rent list, by the customers that were found to match:
// record.ListDoNotRent, record.ListUnsure with what to tell so that it is known, or record.ListClear.
func (d *Persons) ListCheck(
	ctx context.Context, account fleet.AccountID, c *record.CustomerFields, found []Match,
) (result string, missing []string, err error) {
	now := d.Now()
	result, missing = record.ListClear, []string{}
	for i := range found {
		m := &found[i]
		if !m.Customer.Body.Listed(now) {
			continue
		}
		if m.Sure {
			return record.ListDoNotRent, []string{}, nil
		}
		result, missing = record.ListUnsure, append(missing, m.Missing...)
	}
	listed, err := query.ListedKnown(ctx, d.DB, account, now)
	if err != nil {
		return "", nil, err
	}
	named := c.DisplayName != "" && c.DateOfBirth != ""
	_, whole := record.Telephone(c.Phone)
	told := query.Known{Licence: c.Licence != nil, Birth: named, Email: c.Email != "", Phone: c.Phone != "" && whole}
	for _, known := range listed {
		if untold := untold(c, told, known); untold != nil {
			result, missing = record.ListUnsure, append(missing, untold...)
		}
	}
	slices.Sort(missing)
	return result, slices.Compact(missing), nil
}

// untold is what is not told of somebody and would tell him from one on the list who is known by something, nil if
// what is told does: a licence, or a name with a birth date, belongs to one person; where neither is known of the one
// on the list, the email or phone must do.
func untold(c *record.CustomerFields, told, known query.Known) []string {
	if told.Licence && known.Licence || told.Birth && known.Birth {
		return nil
	}
	var all []string
	add := func(is bool, pointer string) {
		if is {
			all = append(all, pointer)
		}
	}
	if known.Licence || known.Birth {
		add(known.Licence, "/licence")
		add(known.Birth && c.DateOfBirth == "", "/date_of_birth")
		add(known.Birth && c.DisplayName == "", "/name")
		return all
	}
	if told.Email && known.Email || told.Phone && known.Phone {
		return nil
	}
	add(known.Email, "/email")
	add(known.Phone, "/phone")
	return all
}

// peopleOf are the customers who rent and drive.
func peopleOf(b *record.Booking) []string {
	var all []string
	if b.CustomerID != "" {
		all = append(all, b.CustomerID)
	}
	for _, driver := range b.Drivers {
		if !slices.Contains(all, driver.CustomerID) {
			all = append(all, driver.CustomerID)
		}
	}
	return all
}

// listed returns whom a customer, by the name that a booking has for it, is or may be of those who are on the
// do-not-rent list now.
func (d *Persons) listed(ctx context.Context, name string,
	rec *record.Record[record.Customer]) ([]record.ListedMatch, error) {
	now := d.Now()
	if rec.Body.Gone() {
		return nil, nil
	}
	self := []record.ListedMatch{{CustomerID: name, ListedID: fleet.FormatID(fleet.CustomerPrefix, rec.ID),
		Check: record.ListDoNotRent, Reasons: []string{record.SameCustomer}}}
	if rec.Body.Listed(now) {
		return self, nil
	}
	if any, err := d.HasList(ctx, rec.Account); err != nil || !any {
		return nil, err
	}
	if m := base.MemoryIn(ctx); m != nil && m.Lookup { // another process may have put it on the list a moment ago
		newest, err := d.Customers.Get(ctx, rec.Account, rec.ID)
		if err != nil || newest.Body.Listed(now) {
			return self, err
		}
		ctx = base.NewMemory().In(ctx) // as may those who are like it
	}
	found, err := d.matches(ctx, rec.Account, rec.ID, rec.Body.DisplayName, &rec.Body.CustomerFields,
		func(l *query.Likeness) bool { return l.OnList || l.MergedInto != "" })
	if err != nil {
		return nil, err
	}
	var all []record.ListedMatch
	for i := range found {
		if m := &found[i]; m.Customer.Body.Listed(now) {
			match := record.ListedMatch{CustomerID: name, ListedID: fleet.FormatID(fleet.CustomerPrefix, m.Customer.ID),
				Check: record.ListUnsure, Reasons: m.Reasons}
			if m.Sure {
				match.Check = record.ListDoNotRent
			}
			all = append(all, match)
		}
	}
	return all, nil
}

// HasList says whether anybody of an account may be on the do-not-rent list, as was told before in a context that
// remembers. To ask that is a fraction of looking for somebody; of an account that had a list once it is not asked
// again.
func (d *Persons) HasList(ctx context.Context, account fleet.AccountID) (bool, error) {
	if m := base.MemoryIn(ctx); m != nil && m.Listed != nil {
		return *m.Listed, nil
	}
	if d.HadList(account) {
		return true, nil
	}
	has, err := d.Reads.AnyListed(ctx, account)
	if err == nil && has {
		d.lists.Store(account, true)
	}
	return has, err
}

// HadList says that an account is known to have or have had a do-not-rent list.
func (d *Persons) HadList(account fleet.AccountID) bool {
	_, had := d.lists.Load(account)
	return had
}

// refused is the error of a booking that a setting has refused for the do-not-rent list; nil if it has not.
func refused(b *record.Booking, setting string) error {
	for i := range b.Listed {
		m := &b.Listed[i]
		if setting == record.DoNotRentWarn || m.Check == record.ListUnsure && setting != record.DoNotRentBlockUnsure {
			continue
		}
		why := rental.ListedText(m)
		says := "Nothing may be rented to the customer " + m.CustomerID + ", who " + why + "."
		if !slices.Contains(m.Reasons, record.SameCustomer) {
			says += " If the two are different people, write " + m.ListedID + " into distinct_from of the customer."
		}
		pointer, code := "/customer_id", onList
		if m.CustomerID != b.CustomerID {
			at := slices.IndexFunc(b.Drivers, func(driver record.Driver) bool { return driver.CustomerID == m.CustomerID })
			pointer = fmt.Sprintf("/drivers/%d/customer_id", at)
		}
		if m.Check == record.ListUnsure {
			code = "do_not_rent_unsure"
		}
		return fleet.NewError(fleet.CodeConflict, says, fleet.FieldError{Pointer: pointer, Code: code, Detail: why})
	}
	return nil
}

// lookAgain looks again at the bookings that a new revision of a customer may concern: its own, and, if it is or was
// on the do-not-rent list, those of all who are like it.
func (d *Persons) lookAgain(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Customer](w)
	if err != nil {
		return err
	}
	if before == nil {
		before = &record.Customer{} // nobody has booked for it yet
		if !mayList(after) {
			return nil
		}
	} else if reflect.DeepEqual(marksOf(before), marksOf(after)) {
		return nil
	}
	if !mayList(before) && !mayList(after) {
		return d.lookAgainFor(ctx, w.System(), w.Account, w.ID)
	}
	return d.lookAgainFor(ctx, w.System(), w.Account, w.ID, before, after)
}

// lookAgainFor looks again at the coming bookings of a customer, of those merged into it, of whoever is like it in one
// of its states (as it was, or as it is), and at those that are marked for it.
func (d *Persons) lookAgainFor(
	ctx context.Context, by record.Author, account fleet.AccountID, id uint64, states ...*record.Customer,
) error {
	people := []uint64{id}
	for _, c := range states {
		person := personOf(c.DisplayName, &c.CustomerFields)
		like, err := d.Reads.CustomersLike(ctx, account, &query.Sought{Person: person, Self: id, Archived: true})
		if err != nil {
			return err
		}
		for i := range like {
			people = append(people, like[i].ID)
		}
	}
	family, err := query.CustomerFamily(ctx, d.DB, account, people...)
	if err != nil {
		return err
	}
	coming, err := query.BookingsComing(ctx, d.DB, account, family, id)
	if err != nil {
		return err
	}
	return base.Each(ctx, coming, func(booking uint64) error { return d.checkAgain(ctx, by, account, booking) })
}

// mayList says whether a customer may be on the do-not-rent list at any time.
func mayList(c *record.Customer) bool {
	return c.DoNotRent != nil && c.DoNotRent.Active || c.RiskLevel == record.RiskBlocked
}

// marksOf is what decides whether a customer is on the list, and who is taken for whom.
func marksOf(c *record.Customer) []any {
	var licence record.Licence
	if l := c.Licence; l != nil {
		licence = record.Licence{Number: l.Number, Country: l.Country, Region: l.Region}
	}
	return []any{c.DoNotRent, c.RiskLevel, c.DisplayName, c.Email, c.Phone, c.DateOfBirth, licence, c.DistinctFrom,
		c.MergedInto, c.Gone()}
}

// checkAgain looks again who of a booking is, or may be, on the do-not-rent list. What nobody may rent any more stays
// booked: what is noted is for whoever confirms or hands over, which is refused then, or for a person to decide.
func (d *Persons) checkAgain(ctx context.Context, by record.Author, account fleet.AccountID, id uint64) error {
	for {
		rec, err := d.Bookings.Get(ctx, account, id)
		if err != nil {
			return err
		}
		going := []string{record.BookingPending, record.BookingConfirmed, record.BookingActive}
		if rec.Archived() || !slices.Contains(going, rec.Body.Status) {
			return nil
		}
		next := rec.Body
		if err := d.LookUp(ctx, account, &next); err != nil {
			return fmt.Errorf("look at the do-not-rent list for %s: %w", fleet.FormatID(fleet.BookingPrefix, id), err)
		}
		if len(next.Listed) == 0 && len(rec.Body.Listed) == 0 || reflect.DeepEqual(next.Listed, rec.Body.Listed) {
			return nil
		}
		_, err = d.Bookings.Update(ctx, by, account, id, rec.Revision, func(r *record.Record[record.Booking]) error {
			r.Body.Listed = next.Listed
			return nil
		})
		if fleet.CodeOf(err) != fleet.CodeStale || ctx.Err() != nil {
			return err
		}
	}
}

// listAgain is for how long after a change of somebody on the list his bookings are looked for again: one that was
// being made meanwhile may have been written after both looks.
const listAgain = 15 * time.Minute

// auditList looks again at bookings that are marked, because bans end, and at those of who came on the list a moment
// ago.
func (d *Persons) auditList(ctx context.Context) error {
	var after query.AccountBooking
	marked := base.EachPage(ctx, d.DuePage, func() ([]query.AccountBooking, error) {
		return query.BookingsChecked(ctx, d.DB, after, d.DuePage)
	}, func(b query.AccountBooking) error {
		after = b
		return d.checkAgain(ctx, record.System, b.Account, b.ID)
	})
	lately, err := query.ListedLately(ctx, d.DB, d.Now().Add(-listAgain))
	return errors.Join(marked, err, base.Each(ctx, lately, func(c query.CustomerRef) error {
		rec, err := d.Customers.Get(ctx, c.Account, c.ID)
		if err != nil {
			return err
		}
		return d.lookAgainFor(ctx, record.System, c.Account, c.ID, &rec.Body)
	}))
}
