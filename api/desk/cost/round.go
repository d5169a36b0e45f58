package cost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/cost"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/query"
)

// byDistance is the method by which a vehicle loses value by what it drives.
const byDistance = "units_of_production"

// Bounds of one round.
const (
	lookTogether = 50 // subjects whose expenses are in memory
	writeAtOnce  = 8  // expenses that are being written
)

// Post makes the expenses that are due by schedule and not there, and changes those that are not as the terms are now.
// It does so much in a round, and the next goes on; what fails is tried again in the next round.
func (d *Costs) Post(ctx context.Context) error {
	now := d.Now()
	pending, err := query.SchedulesPending(ctx, d.DB, 0, now, cost.Categories(), d.LookMost)
	if err != nil {
		return err
	}
	_, err = d.post(ctx, pending, now, 0)
	return err
}

// PostOf does that for an account and what belongs to days through one, so that nothing is left there that a later
// round would post of what is known now. What belongs to later days alone is left to the rounds. The error is a
// conflict that names what cannot be posted if it is refused.
func (d *Costs) PostOf(ctx context.Context, account fleet.AccountID, through ledger.Day) error {
	done := map[string]uint64{} // the subjects that were looked at, and by what
	for {
		now := d.Now()
		pending, err := query.SchedulesPending(ctx, d.DB, account, now, cost.Categories(), d.LookMost+len(done))
		if err != nil {
			return err
		}
		pending = slices.DeleteFunc(pending, func(p query.PendingSchedule) bool {
			basis, looked := done[p.Subject]
			return looked && basis == p.Basis
		})
		if len(pending) == 0 {
			return nil
		}
		looked, err := d.post(ctx, pending, now, through)
		if failed, ok := errors.AsType[*subjectError](err); ok {
			refused, ok := errors.AsType[*fleet.Error](failed.err)
			if ok && refused.Code != fleet.CodeUnavailable {
				return fleet.NewError(fleet.CodeConflict, "The books cannot be closed, because what "+failed.what()+
					" costs by schedule cannot be brought into them: "+refused.Message)
			}
		}
		if err != nil {
			return err
		}
		for _, p := range looked {
			done[p.Subject] = p.Basis
		}
	}
}

// PostNew makes the expenses that the terms v of a vehicle ask for through today, unless one of them was made before.
// It reads no more than those, so that it can be decided in memory; nobody else may know of the terms meanwhile, and
// nothing may have been posted that stands in their place. What goes by distance driven is for the rounds.
func (d *Costs) PostNew(ctx context.Context, account fleet.AccountID, vehicle uint64, v *record.Vehicle) error {
	if v.DepreciationMethod == byDistance {
		return nil
	}
	left := &atomic.Int64{}
	left.Store(math.MaxInt64)
	r := &round{Costs: d, account: account, now: d.Now(), left: left,
		vehicles: map[uint64]*record.Vehicle{vehicle: v}}
	var err error
	if r.zone, err = d.Books.Zone(ctx, account); err != nil {
		return err
	}
	subject := fleet.FormatID(fleet.VehiclePrefix, vehicle)
	a, err := r.ask(ctx, subject, 0)
	if err != nil {
		return err
	}
	var wanted []record.Ref
	for _, i := range a.Items {
		wanted = append(wanted, record.Ref{Kind: record.Expenses.Name, ID: ExpenseID(account, subject, i.What, i.Number)})
	}
	seen, err := d.Store.See(ctx, account, wanted...)
	if err != nil || slices.ContainsFunc(wanted, func(ref record.Ref) bool { _, made := seen.Body(ref); return made }) {
		return err
	}
	_, _, err = r.do(ctx, subject)
	return err
}

// subjectError is why a subject could not be posted.
type subjectError struct {
	subject string
	err     error
}

func (e *subjectError) Error() string { return e.subject + ": " + e.err.Error() }

// what says what the subject is. People are told the name of a record in the place of its id.
func (e *subjectError) what() string {
	if _, err := fleet.ParseID(fleet.RecurringCostPrefix, e.subject); err == nil {
		return "the recurring cost " + e.subject
	}
	return "the vehicle " + e.subject
}

func (e *subjectError) Unwrap() error { return e.err }

// post is a round over some subjects, as far as it concerns days through one, 0 for all. It returns those with which it
// came to an end.
func (d *Costs) post(ctx context.Context, pending []query.PendingSchedule, now time.Time,
	through ledger.Day) (done []query.PendingSchedule, err error) {
	byAccount := map[fleet.AccountID][]query.PendingSchedule{}
	var order []fleet.AccountID // as they wait
	for _, p := range pending {
		if byAccount[p.Account] == nil {
			order = append(order, p.Account)
		}
		byAccount[p.Account] = append(byAccount[p.Account], p)
	}
	left := &atomic.Int64{}
	left.Store(int64(d.WriteMost))
	err = base.Each(ctx, order, func(account fleet.AccountID) error {
		return base.Each(ctx, slices.Collect(slices.Chunk(byAccount[account], lookTogether)),
			func(some []query.PendingSchedule) error {
				r := &round{Costs: d, account: account, now: now, through: through, left: left}
				err := r.look(ctx, some)
				done = append(done, r.done...)
				if err != nil {
					return fmt.Errorf("costs by schedule of %s: %w", account, err)
				}
				return nil
			})
	})
	return done, err
}

// round is a look at some subjects of an account.
type round struct {
	*Costs
	account fleet.AccountID
	now     time.Time
	through ledger.Day              // what belongs to later days alone is left; 0 leaves nothing
	left    *atomic.Int64           // expenses that may still be written
	done    []query.PendingSchedule // those with which it came to an end

	zone      *time.Location
	vehicles  map[uint64]*record.Vehicle
	recurring map[uint64]*record.RecurringCost
	driven    map[uint64]map[int]int64
	made      map[string][]made // by what made them
	posted    map[string][]made // by vehicle, "" for the business: by people, and by recurring costs
}

// made is an expense as the current records have it.
type made struct {
	id     uint64
	by     string
	status string
	body   record.Expense
}

// look looks at each subject, and notes of each what it has seen.
func (r *round) look(ctx context.Context, pending []query.PendingSchedule) error {
	var subjects []string
	for _, p := range pending {
		subjects = append(subjects, p.Subject)
	}
	if err := r.read(ctx, subjects); err != nil {
		return err
	}
	var looks []look
	err := base.Each(ctx, pending, func(p query.PendingSchedule) error {
		if r.left.Load() <= 0 {
			return nil // the next round looks at it
		}
		next, whole, err := r.do(ctx, p.Subject)
		if err != nil {
			return &subjectError{p.Subject, err}
		}
		if whole {
			r.done = append(r.done, p)
		}
		looks = append(looks, look{subject: p.Subject, basis: p.Basis, next: next})
		return nil
	})
	if noted := r.note(ctx, looks); err == nil {
		err = noted
	}
	return err
}

// read reads what the subjects hang on.
func (r *round) read(ctx context.Context, subjects []string) error {
	var vehicles, recurring []uint64
	var makers []string // the recurring costs
	for _, s := range subjects {
		if id, err := fleet.ParseID(fleet.VehiclePrefix, s); err == nil {
			vehicles = append(vehicles, id)
		} else if id, err := fleet.ParseID(fleet.RecurringCostPrefix, s); err == nil {
			recurring, makers = append(recurring, id), append(makers, s)
		}
	}
	var err error
	if r.recurring, err = bodies[record.RecurringCost](ctx, r, &query.RecurringCosts, recurring); err != nil {
		return err
	}
	categories := cost.Categories()
	var names []string // of vehicles, "" for the business
	for _, c := range r.recurring {
		categories = append(categories, c.Category)
		if id, err := fleet.ParseID(fleet.VehiclePrefix, c.VehicleID); err == nil {
			vehicles = append(vehicles, id)
		} else if c.LocationID == "" {
			names = append(names, "")
		}
	}
	if r.vehicles, err = bodies[record.Vehicle](ctx, r, &query.Vehicles, vehicles); err != nil {
		return err
	}
	var byMiles []uint64
	for id, v := range r.vehicles {
		names = append(names, fleet.FormatID(fleet.VehiclePrefix, id))
		if v.DepreciationMethod == byDistance {
			byMiles = append(byMiles, id)
		}
	}
	if r.driven, err = query.DrivenByMonth(ctx, r.DB, r.account, byMiles); err != nil {
		return err
	}
	found, err := query.ScheduledExpenses(ctx, r.DB, r.account, names, makers, categories)
	if err != nil {
		return err
	}
	r.made, r.posted = map[string][]made{}, map[string][]made{}
	for _, e := range found {
		m := made{id: e.ID, by: e.By, status: e.Status}
		if err := json.Unmarshal([]byte(e.Body), &m.body); err != nil {
			return fmt.Errorf("decode expense %d: %w", e.ID, err)
		}
		if e.By != "" {
			r.made[e.By] = append(r.made[e.By], m)
		}
		if (e.Vehicle == "" || e.By != e.Vehicle) && e.Status == record.ExpensePosted {
			r.posted[e.Vehicle] = append(r.posted[e.Vehicle], m)
		}
	}
	r.zone, err = r.Books.Zone(ctx, r.account)
	return err
}

// bodies reads records by their ids.
func bodies[T any](ctx context.Context, r *round, l *query.Listing, ids []uint64) (map[uint64]*T, error) {
	slices.Sort(ids)
	stored, err := query.RecordsByID(ctx, r.DB, l, r.account, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	found := make(map[uint64]*T, len(stored))
	for id, s := range stored {
		found[id] = new(T)
		if err := json.Unmarshal([]byte(s.Body), found[id]); err != nil {
			return nil, fmt.Errorf("decode record %d: %w", id, err)
		}
	}
	return found, nil
}

// asked is what a subject asks for through today, where it is.
type asked struct {
	cost.Schedule
	today     ledger.Day
	zone      *time.Location
	expense   record.Expense // what all of its expenses have
	vehicleID string
}

// ask works out what a subject asks for through so many days from today.
func (r *round) ask(ctx context.Context, subject string, ahead ledger.Day) (*asked, error) {
	a := &asked{zone: r.zone}
	if id, err := fleet.ParseID(fleet.VehiclePrefix, subject); err == nil {
		v := r.vehicles[id]
		if v == nil {
			return nil, fleet.NewError(fleet.CodeNotFound, "There is no vehicle "+subject+".")
		}
		a.in(v)
		a.today, a.vehicleID = ledger.DayOf(r.now, a.zone), subject
		a.Schedule = cost.OfVehicle(&v.VehicleFields, r.driven[id], standing(r.posted[subject], false), a.today+ahead)
		return a, nil
	}
	id, err := fleet.ParseID(fleet.RecurringCostPrefix, subject)
	if err != nil || r.recurring[id] == nil {
		return nil, fleet.NewError(fleet.CodeNotFound, "There is no recurring cost "+subject+".")
	}
	c := r.recurring[id]
	var of *record.VehicleFields
	if number, err := fleet.ParseID(fleet.VehiclePrefix, c.VehicleID); err == nil && r.vehicles[number] != nil {
		v := r.vehicles[number]
		a.in(v)
		of = &v.VehicleFields
	}
	a.today, a.vehicleID = ledger.DayOf(r.now, a.zone), c.VehicleID
	a.expense.ExpenseFields = record.ExpenseFields{Vendor: c.Vendor, Description: c.Description,
		PaymentMethod: c.PaymentMethod, Unpaid: c.Unpaid}
	a.expense.BookedFor.LocationID = c.LocationID
	var posted []cost.Posted
	if c.LocationID == "" { // no expense that somebody writes names one
		posted = standing(r.posted[c.VehicleID], true)
	}
	a.Schedule = cost.OfRecurring(&c.RecurringCostFields, of, posted, a.today+ahead)
	return a, nil
}

// in has a subject count its days where a vehicle is.
func (a *asked) in(v *record.Vehicle) {
	a.zone = ledger.ZoneOf(v.Timezone, a.zone)
}

// standing are expenses as a schedule looks at them, by people alone or also by recurring costs.
func standing(all []made, people bool) []cost.Posted {
	var posted []cost.Posted
	for _, m := range all {
		if people && m.by != "" {
			continue
		}
		e := &m.body
		p := cost.Posted{ID: fleet.FormatID(fleet.ExpensePrefix, m.id), Category: e.Category,
			Vendor: e.Vendor, Amount: e.Amount}
		p.From, _ = ledger.ParseDay(e.IncurredOn) // 0, before all schedules, if there is none
		p.To = p.From
		if s := e.ServicePeriod; s != nil {
			from, err1 := ledger.ParseDay(s.From)
			to, err2 := ledger.ParseDay(s.To)
			if err1 == nil && err2 == nil && from <= to {
				p.From, p.To = from, to
			}
		}
		if e.Financed != nil {
			p.Financed = e.Financed.Amount
		}
		posted = append(posted, p)
	}
	return posted
}

// do brings the expenses of a subject to what it asks for, as far as the round may write, and returns when it must be
// looked at again, if nothing changes before, and whether it came to an end.
func (r *round) do(ctx context.Context, subject string) (next time.Time, whole bool, err error) {
	a, err := r.ask(ctx, subject, 0)
	if err != nil {
		return next, false, err
	}
	var due []cost.Item
	for _, i := range a.Items {
		if i.Due <= a.today && i.ByHand == "" {
			due = append(due, i)
		}
	}
	changes, others, err := r.changes(ctx, subject, a, due)
	if err != nil {
		return next, false, err
	}
	may := int(max(r.left.Add(-int64(len(changes)))+int64(len(changes)), 0))
	whole = len(changes) <= may
	if err := r.carryOut(ctx, changes[:min(may, len(changes))]); err != nil {
		return next, false, err
	}
	if !whole || others {
		// The rest waits for the next round, behind those who have waited longer.
		return r.now, whole, nil
	}
	ahead, err := r.ask(ctx, subject, 400)
	if err != nil {
		return next, false, err
	}
	return ahead.next(), true, nil
}

// next is the beginning of the next day on which something falls due: at the latest of the next month, so that
// whatever was missed is found.
func (a *asked) next() time.Time {
	next := a.today.Month(1)
	for _, i := range a.Items {
		if i.Due > a.today {
			next = min(next, i.Due)
		}
	}
	return next.Begins(a.zone)
}

// carryOut writes changes, some at once.
func (r *round) carryOut(ctx context.Context, changes []func(context.Context) error) error {
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(writeAtOnce)
	for _, change := range changes {
		work.Go(func() error { return change(inner) })
	}
	return work.Wait()
}

// look is what is noted of a subject that was looked at.
type look struct {
	subject string
	basis   uint64
	next    time.Time
}

// note notes what was looked at. What is not noted is looked at again.
func (r *round) note(ctx context.Context, looks []look) error {
	if len(looks) == 0 {
		return nil
	}
	subjects := make([]string, len(looks))
	for i, l := range looks {
		subjects[i] = l.subject
	}
	token := fmt.Sprintf("looks:%d:%d:%d", r.account, r.now.UnixNano(), record.RandomID())
	batch, err := r.DB.PrepareBatch(record.WithToken(ctx, token),
		"INSERT INTO schedule_looks (account, subject, at, basis, next_at)")
	if err != nil {
		return fmt.Errorf("note looks at %s: %w", strings.Join(subjects, ", "), err)
	}
	for _, l := range looks {
		if err := batch.Append(uint64(r.account), l.subject, r.now, l.basis, l.next); err != nil {
			batch.Abort()
			return fmt.Errorf("note a look at %s: %w", l.subject, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("note looks at %s: %w", strings.Join(subjects, ", "), err)
	}
	return nil
}
