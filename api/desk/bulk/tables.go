package bulk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// tables are the tables of current records as far as base.Reads asks of them, over others that they do not change.
type tables struct {
	account fleet.AccountID
	below   *tables // may be nil

	// Only in the lowest:
	told  map[uint64]*query.MeterNeighbour // the vehicles that have reported, with their odometers
	plans []query.PlanInUse
	some  bool // only customers are known, and plans

	mu        sync.Mutex
	failed    error
	priced    bool          // rate plans were written
	customers *query.People // as they are or were known
	readings  map[meter]map[uint64]reading
	payments  map[string][]uint64 // by booking
	papers    map[string]map[uint64]paper
	issues    map[string]map[uint64]bool // by vehicle: whether it keeps that from being rented
	work      map[string]map[uint64]bool // likewise
}

type meter struct {
	vehicle uint64
	kind    string
}

type reading struct {
	at     time.Time
	value  float64
	source string
	voided bool
}

type paper struct {
	query.StoredPaper
	place int
}

func newTables(account fleet.AccountID, below *tables) *tables {
	return &tables{account: account, below: below, customers: query.NewPeople(),
		readings: map[meter]map[uint64]reading{}, payments: map[string][]uint64{}, papers: map[string]map[uint64]paper{},
		issues: map[string]map[uint64]bool{}, work: map[string]map[uint64]bool{}}
}

// each calls something with these tables and with those below, each while nobody writes to them.
func (t *tables) each(do func(*tables)) {
	for ; t != nil; t = t.below {
		t.mu.Lock()
		do(t)
		t.mu.Unlock()
	}
}

// put takes in a revision; what fails is told by err.
func (t *tables) put(c record.Current) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = t.add(c, t.failed)
}

func (t *tables) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// add takes in a revision, unless something failed before.
func (t *tables) add(c record.Current, before error) error {
	if before != nil {
		return before
	}
	switch c.Kind {
	case record.Customers.Name:
		return with(c, func(body *record.Customer) {
			p := query.Compared{Likeness: query.Likeness{ID: c.ID, DisplayName: body.DisplayName, MergedInto: body.MergedInto,
				DateOfBirth: body.DateOfBirth, DistinctFrom: body.DistinctFrom,
				OnList: body.DoNotRent != nil && body.DoNotRent.Active || body.RiskLevel == record.RiskBlocked},
				Email: body.Email, Phone: body.Phone, Archived: c.Archived, Erasing: !body.ErasingSince.IsZero()}
			if l := body.Licence; l != nil {
				p.LicenceNumber, p.LicenceCountry, p.LicenceRegion = l.Number, l.Country, l.Region
			}
			t.customers.Add(p)
		})
	case record.RatePlans.Name:
		t.priced = true
	case record.MeterReadings.Name:
		return with(c, func(m *record.MeterReading) {
			vehicle, _ := fleet.ParseID(fleet.VehiclePrefix, m.VehicleID)
			set(t.readings, meter{vehicle, m.Meter}, c.ID, reading{m.RecordedAt.Time, m.Value, m.Source, m.Voided})
		})
	case record.Payments.Name:
		return with(c, func(p *record.Payment) {
			if !slices.Contains(t.payments[p.BookingID], c.ID) {
				t.payments[p.BookingID] = append(t.payments[p.BookingID], c.ID)
			}
		})
	case record.Invoices.Name, record.CreditNotes.Name:
		return with(c, func(p *record.Paper) {
			stored := query.Stored{ID: c.ID, Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Body: c.Body}
			if c.Archived {
				stored.ArchivedAt = &c.UpdatedAt
			}
			set(t.papers, p.BookingID, c.ID, paper{query.StoredPaper{Stored: stored, Kind: c.Kind}, p.Place})
		})
	case record.Issues.Name:
		return with(c, func(i *record.Issue) {
			set(t.issues, i.VehicleID, c.ID, !c.Archived && i.Severity == "safety_critical" &&
				(i.Status == "open" || i.Status == "in_progress"))
		})
	case record.WorkOrders.Name:
		return with(c, func(w *record.WorkOrder) {
			set(t.work, w.VehicleID, c.ID,
				!c.Archived && (w.Status == record.WorkInProgress || w.Status == record.WorkOnHold))
		})
	}
	return nil
}

func with[T any](c record.Current, take func(*T)) error {
	var body T
	if err := json.Unmarshal([]byte(c.Body), &body); err != nil {
		return fmt.Errorf("decode %s %d revision %d: %w", c.Kind, c.ID, c.Revision, err)
	}
	take(&body)
	return nil
}

func set[K comparable, V any](all map[K]map[uint64]V, of K, id uint64, value V) {
	if all[of] == nil {
		all[of] = map[uint64]V{}
	}
	all[of][id] = value
}

// AnyListed is query.AnyListed of one account.
func (t *tables) AnyListed(context.Context, fleet.AccountID) (any bool, _ error) {
	t.each(func(t *tables) { any = any || t.customers.AnyListed() })
	return any, nil
}

// CustomersLike is query.CustomersLike of one person.
func (t *tables) CustomersLike(_ context.Context, _ fleet.AccountID, p *query.Sought) ([]query.Likeness, error) {
	var all []query.Likeness
	t.each(func(t *tables) { all = append(all, t.customers.Like(p)...) })
	return query.Closest(all), nil
}

// Hindrances is query.Hindrances.
func (t *tables) Hindrances(_ context.Context, _ fleet.AccountID,
	vehicle uint64) (issues, work []string, err error) {
	name := fleet.FormatID(fleet.VehiclePrefix, vehicle)
	var open, done []uint64
	t.each(func(t *tables) {
		if t.some {
			err = errUnread
		}
		for id, keeps := range t.issues[name] {
			if keeps {
				open = append(open, id)
			}
		}
		for id, keeps := range t.work[name] {
			if keeps {
				done = append(done, id)
			}
		}
	})
	return named(fleet.IssuePrefix, open), named(fleet.WorkOrderPrefix, done), err
}

// named writes ids in their order.
func named(prefix string, ids []uint64) []string {
	slices.Sort(ids)
	var all []string
	for _, id := range ids {
		all = append(all, fleet.FormatID(prefix, id))
	}
	return all
}

// MetersAround is query.MetersAround.
func (t *tables) MetersAround(_ context.Context, _ fleet.AccountID, vehicle uint64, kind string, at time.Time,
	but ...uint64) (query.Around, error) {
	at = at.Truncate(time.Millisecond)
	var found query.Around
	var refused error
	t.each(func(t *tables) {
		if t.some {
			refused = errUnread
		}
		if n := t.told[vehicle]; n != nil && kind == query.Odometer {
			found.Told = n
		}
		for id, r := range t.readings[meter{vehicle, kind}] {
			if r.voided || slices.Contains(but, id) {
				continue
			}
			n := query.MeterNeighbour{ID: id, At: r.at, Value: r.value}
			later := func(o *query.MeterNeighbour) int {
				return cmp.Or(n.At.Compare(o.At), cmp.Compare(n.ID, o.ID))
			}
			switch before := !r.at.After(at); {
			case before && (found.Before == nil || later(found.Before) > 0):
				found.Before = &n
			case !before && (found.After == nil || later(found.After) < 0):
				found.After = &n
			}
		}
	})
	return found, refused
}

// MetersNow is query.MetersNow, of vehicles that have never reported: others have tracks, which are not in memory.
func (t *tables) MetersNow(_ context.Context, _ fleet.AccountID, vehicles []uint64,
	now time.Time) (map[uint64]query.Meters, error) {
	now = now.Truncate(time.Millisecond)
	all := make(map[uint64]query.Meters, len(vehicles))
	var refused error
	for _, vehicle := range vehicles {
		var m query.Meters
		for kind, into := range map[string]*query.Meter{query.Odometer: &m.OdometerMi,
			query.EngineHours: &m.EngineHours, query.BatteryCycles: &m.BatteryCycles} {
			t.each(func(t *tables) {
				if _, reports := t.told[vehicle]; reports || t.some {
					refused = errUnread
				}
				for _, r := range t.readings[meter{vehicle, kind}] {
					if r.voided || r.at.After(now) {
						continue
					}
					newer := cmp.Or(cmp.Compare(fleet.MillisOf(r.at), into.At), cmp.Compare(into.Source, r.source))
					if into.At == 0 || newer > 0 {
						*into = query.Meter{Value: r.value, At: fleet.MillisOf(r.at), Source: r.source}
					}
				}
			})
		}
		all[vehicle] = m
	}
	return all, refused
}

// PapersOfBooking is query.PapersOfBooking.
func (t *tables) PapersOfBooking(_ context.Context, _ fleet.AccountID, booking string,
	kinds ...string) ([]query.StoredPaper, error) {
	var found []paper
	t.each(func(t *tables) {
		for _, p := range t.papers[booking] {
			if booking != "" && slices.Contains(kinds, p.Kind) {
				found = append(found, p)
			}
		}
	})
	slices.SortFunc(found, func(a, b paper) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.ID, b.ID))
	})
	var all []query.StoredPaper
	for _, p := range found {
		all = append(all, p.StoredPaper)
	}
	return all, nil
}

// PaymentsOf is query.PaymentsOf.
func (t *tables) PaymentsOf(_ context.Context, _ fleet.AccountID, booking uint64) ([]uint64, error) {
	ids := []uint64{}
	t.each(func(t *tables) { ids = append(ids, t.payments[fleet.FormatID(fleet.BookingPrefix, booking)]...) })
	return ids, nil
}

// PlansInUse is query.PlansInUse.
func (t *tables) PlansInUse(context.Context, fleet.AccountID) (plans []query.PlanInUse, refused error) {
	t.each(func(t *tables) {
		if plans = t.plans; t.below != nil && t.priced {
			refused = errUnread
		}
	})
	return plans, refused
}
