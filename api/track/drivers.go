package track

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	conn "github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/driver"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/query"
)

// vehiclesAtOnce is of how many vehicles what was said of their drivers is held in memory at once.
const vehiclesAtOnce = 50

// stretch is of how long it is held in memory at once, but for a trip that goes on for longer.
const stretch = fleet.Millis(31 * 24 * time.Hour / time.Millisecond)

// readDriversKnown reads by what it may be known who drove vehicles. A tracker that tells tags does so all the time: it
// is asked what it told, and nothing else is kept of the vehicle.
func (a *API) readDriversKnown(ctx context.Context, account fleet.AccountID, ids []uint64,
	_ time.Time) (map[uint64]*roster.Fact[query.DriversKnown], error) {
	of, err := query.DriversKnownOf(ctx, a.DB, account, ids)
	if err != nil {
		return nil, err
	}
	all := make(map[uint64]*roster.Fact[query.DriversKnown], len(ids))
	for _, id := range ids {
		fact := &roster.Fact[query.DriversKnown]{Value: of[id], Until: math.MaxInt64}
		if fact.Value.Tagged {
			fact.Value, fact.Final = everyDriver, true
		}
		all[id] = fact
	}
	return all, nil
}

// everyDriver is of vehicles of which nothing is kept: all is read.
var everyDriver = query.DriversKnown{Said: true, Tagged: true, Booked: true}

// driversKnown says by what it may be known who drove any of some vehicles; by everything if memory cannot tell soon.
func (a *API) driversKnown(ctx context.Context, account fleet.AccountID,
	vehicles []fleet.VehicleID) (known query.DriversKnown) {
	if a.Roster == nil { // to read it were one more statement
		return everyDriver
	}
	ids := make([]uint64, len(vehicles))
	for i, v := range vehicles {
		ids[i] = uint64(v)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all, _, err := a.drivers.Of(ctx, account, ids)
	if err != nil {
		return everyDriver
	}
	for _, k := range all {
		known.Said, known.Tagged, known.Booked = known.Said || k.Said, known.Tagged || k.Tagged, known.Booked || k.Booked
	}
	return known
}

// evidence reads what was said of who drove some vehicles at any time of [from, to]. A tag that was shown before counts
// too.
func (a *API) evidence(ctx context.Context, db conn.Conn, account fleet.AccountID, vehicles []fleet.VehicleID,
	from, to fleet.Millis) (*driver.Evidence, error) {
	by := a.driversKnown(ctx, account, vehicles)
	e := &driver.Evidence{}
	group, inner := errgroup.WithContext(ctx)
	if by.Said {
		group.Go(func() (err error) {
			e.Manual, err = query.DriversSaid(inner, db, account, vehicles, from, to)
			return err
		})
	}
	if by.Booked {
		group.Go(func() (err error) {
			e.Bookings, err = query.DriversBooked(inner, db, account, vehicles, from, to)
			return err
		})
	}
	if by.Tagged {
		group.Go(func() (err error) {
			if e.Reports, err = query.TagReports(inner, db, account, vehicles, from-driver.Hold, to); err != nil ||
				len(e.Reports) == 0 {
				return err
			}
			seen := map[string]bool{}
			for i := range e.Reports {
				seen[e.Reports[i].Tag] = true
			}
			e.Holders, err = query.TagHolders(inner, db, account, slices.Collect(maps.Keys(seen)))
			return err
		})
	}
	return e, group.Wait()
}

// drove is a trip and who drove it.
type drove struct {
	query.TripSpan
	driver.Drive
}

// eachDrive finds out who drove some trips, by vehicle and start, some vehicles and a stretch of time at once.
func (a *API) eachDrive(
	ctx context.Context, db conn.Conn, account fleet.AccountID, trips []query.TripSpan, each func(*drove),
) error {
	of := byVehicle(trips)
	for some := range slices.Chunk(slices.Sorted(maps.Keys(of)), vehiclesAtOnce) {
		var theirs []query.TripSpan
		for _, v := range some {
			theirs = append(theirs, of[v]...)
		}
		slices.SortStableFunc(theirs, func(x, y query.TripSpan) int { return cmp.Compare(x.From, y.From) })
		for len(theirs) > 0 {
			n, last := 0, theirs[0].To
			for ; n < len(theirs) && theirs[n].From-theirs[0].From < stretch; n++ {
				last = max(last, theirs[n].To)
			}
			e, err := a.evidence(ctx, db, account, some, theirs[0].From, last)
			if err != nil {
				return err
			}
			for _, t := range theirs[:n] {
				each(&drove{t, e.Who(t.Vehicle, t.From, t.To)})
			}
			theirs = theirs[n:]
		}
	}
	return nil
}

// byVehicle sorts trips by their vehicles.
func byVehicle(trips []query.TripSpan) map[fleet.VehicleID][]query.TripSpan {
	of := map[fleet.VehicleID][]query.TripSpan{}
	for _, t := range trips {
		of[t.Vehicle] = append(of[t.Vehicle], t)
	}
	return of
}

// mayHaveDriven returns the vehicles that a driver may have driven in [from, to).
func mayHaveDriven(
	ctx context.Context, db conn.Conn, account fleet.AccountID, who string, from, to fleet.Millis,
) ([]fleet.VehicleID, error) {
	tags := []string{}
	if strings.HasPrefix(who, fleet.CustomerPrefix) {
		var err error
		if tags, err = query.TagsOf(ctx, db, account, who); err != nil {
			return nil, err
		}
	}
	return query.DriverVehicles(ctx, db, account, who, tags, from, to)
}

// MaxDriverTrips bounds of how many trips a list looks for those of a driver. Tests choose another.
var MaxDriverTrips = 100_000

// narrowToDriver narrows a filter of trips to those of a driver.
func (a *API) narrowToDriver(ctx context.Context, db conn.Conn, f *query.DerivedFilter, who string) error {
	vehicles, err := mayHaveDriven(ctx, db, f.Account, who, f.From, f.To)
	if err != nil {
		return err
	}
	if len(f.Vehicles) > 0 {
		vehicles = slices.DeleteFunc(vehicles, func(v fleet.VehicleID) bool { return !slices.Contains(f.Vehicles, v) })
	}
	f.Only = &[]uint64{}
	if len(vehicles) == 0 {
		return nil
	}
	trips, err := query.TripSpans(ctx, db, f.Account, vehicles, f.From, f.To, f.Deleted, MaxDriverTrips+1)
	if err != nil {
		return err
	}
	if len(trips) > MaxDriverTrips {
		return rest.InvalidParam("driver", "may have driven on more than "+strconv.Itoa(MaxDriverTrips)+
			" trips of these vehicles: choose a shorter span with from and until, or name fewer vehicles with vehicle_id")
	}
	chosen := map[fleet.VehicleID]bool{}
	err = a.eachDrive(ctx, db, f.Account, trips, func(d *drove) {
		if d.Driver == who {
			*f.Only = append(*f.Only, d.ID)
			chosen[d.Vehicle] = true
		}
	})
	f.Vehicles = slices.Sorted(maps.Keys(chosen))
	return err
}

// driverSums returns what the drivers of an account drove in trips that began in [from, to), and how, by driver. A
// driving event counts for who was at the wheel then. Trips are read a stretch of time at once.
func (a *API) driverSums(
	ctx context.Context, db conn.Conn, account fleet.AccountID, from, to fleet.Millis,
) ([]query.DrivingSums, error) {
	notes, err := query.Notes(ctx, db, account, from, to)
	if err != nil {
		return nil, err
	}
	of := map[fleet.VehicleID][]query.Note{}
	for _, n := range notes {
		of[n.Vehicle] = append(of[n.Vehicle], n)
	}
	sums := map[string]*query.DrivingSums{}
	at := func(who string) *query.DrivingSums {
		if sums[who] == nil {
			sums[who] = &query.DrivingSums{Driver: who}
		}
		return sums[who]
	}
	add := func(d *drove) {
		if d.Driver == "" || d.Unrecorded {
			return
		}
		s := at(d.Driver)
		s.Trips, s.Distance, s.Moving = s.Trips+1, s.Distance+d.Distance, s.Moving+d.Moving
		for i := range of[d.Vehicle] {
			n := &of[d.Vehicle][i]
			if who := d.at(n.At); who != "" {
				at(who).Add(n)
			}
		}
	}
	for begin := from; begin < to; begin += stretch {
		trips, err := query.TripSpans(ctx, db, account, nil, begin, min(begin+stretch, to), false, 0)
		if err != nil {
			return nil, err
		}
		before := func(t query.TripSpan) bool { return t.From < begin }
		if err := a.eachDrive(ctx, db, account, slices.DeleteFunc(trips, before), add); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(func(yield func(query.DrivingSums) bool) {
		for _, s := range sums {
			if !yield(*s) {
				return
			}
		}
	}, func(x, y query.DrivingSums) int { return cmp.Compare(x.Driver, y.Driver) }), nil
}

// at returns who was at the wheel at an instant of a trip; nobody is who is not known, and who drove another trip.
func (d *drove) at(at fleet.Millis) string {
	for i := range d.Parts {
		p := &d.Parts[i]
		if p.From <= at && (at < p.To || i == len(d.Parts)-1 && at <= p.To) {
			return p.Driver
		}
	}
	return ""
}

// driverOf gives a driver as an id or as a name.
func driverOf(driver string) (id, name *string) {
	if strings.HasPrefix(driver, fleet.CustomerPrefix) {
		return &driver, nil
	}
	return nil, rest.TextOrNull(driver)
}
