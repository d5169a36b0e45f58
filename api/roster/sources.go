package roster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// source is a table of which something follows that is kept.
type source struct {
	table string
	of    reach
	key   string // by what a row says whose it is
	where string // which rows matter
}

// reach is what may be other when a row of a source is new.
type reach int

const (
	ofVehicle  reach = 1 << iota // the facts of the vehicle that it names
	ofPlace                      // the place of that vehicle
	ofBooking                    // facts that go by the booking that it names
	ofAccount                    // facts of the account
	ofCalendar                   // the calendar that it names
	ofMoney                      // what is owed and paid of the booking that it names
	ofItem                       // what goes by the toll or expense that it is
	ofDriver                     // what there is by which it is known who drove the vehicle that it names
	ofPast                       // how much that vehicle had before query.PastBefore: of a table by months alone
	ofFixes                      // how many positions it has

	ofAll = ofVehicle | ofPlace | ofBooking | ofAccount | ofCalendar | ofMoney | ofItem | ofDriver | ofPast | ofFixes
)

// itsBooking is the booking that a row names, 0 for none.
const itsBooking = "toUInt64OrZero(substring(booking_id, 5))"

// sources are the tables of which follows what is known of vehicles and bookings beside their records.
var sources = []source{
	{"vehicle_state", ofVehicle | ofPlace, "vehicle", ""},
	{"vehicles", ofPlace, "id", ""},
	{"vehicle_mileage", ofVehicle, "vehicle", ""},
	{"telemetry_latest", ofVehicle, "vehicle", ""},
	{"meters", ofVehicle, "vehicle", ""},
	{"trips", ofVehicle, "vehicle", ""},
	{"heard", ofVehicle, "vehicle", ""},
	{"heard_hours", ofVehicle, "", ""},              // of which vehicles, heard_changed.sql tells
	{"calendars", ofVehicle | ofCalendar, "id", ""}, // those of classes name no vehicle
	{"bookings", ofBooking, "id", ""},
	{"bookings", ofDriver, "toUInt64OrZero(substring(vehicle_id, 5))", "AND vehicle_id != ''"},
	{"tag_reports", ofDriver, "vehicle", ""},
	{"trip_drivers", ofDriver, "vehicle", ""},
	{"devices", ofAccount, "0", ""},
	{"issues", ofAccount, "0", ""},
	{"accounts", ofAccount, "0", ""},
	{logTable, ofAccount, "0", "AND kind = 'account'"},
	{"payments", ofMoney, itsBooking, "AND booking_id != ''"},
	{"expenses", ofMoney, itsBooking, "AND booking_id != ''"},
	{"expenses", ofItem, "id", ""}, // which may have named another booking before
	{"tolls", ofMoney, itsBooking, "AND booking_id != ''"},
	{"tolls", ofItem, "id", ""},
	{"trips", ofPast, "vehicle", ""},
	{"stops", ofPast, "vehicle", ""},
	{"charges", ofPast, "vehicle", ""},
	{"visits", ofPast, "vehicle", ""},
	{"driving_events", ofPast, "vehicle", ""},
	{"alerts", ofPast, "vehicle", ""},
	{"route_runs", ofPast, "vehicle", ""},
	{"positions", ofPast, "vehicle", ""},
	{"positions", ofFixes, "vehicle", ""},
}

// changes are what a look has found of an account.
type changes struct {
	ids   map[reach]map[uint64]bool // of which what a reach says may be other, by each reach of ids
	facts bool                      // all facts may be others that follow from what is of the account
	any   reach                     // whatever follows of these may be
}

// idReaches are those of ids.
var idReaches = []reach{ofVehicle, ofPlace, ofBooking, ofCalendar, ofMoney, ofItem, ofDriver, ofPast, ofFixes}

func (c *changes) add(s *source, id uint64) {
	for _, of := range idReaches {
		if s.of&of != 0 {
			c.put(of, id)
		}
	}
	c.facts = c.facts || s.of&ofAccount != 0
}

func (c *changes) put(of reach, id uint64) {
	if c.ids == nil {
		c.ids = map[reach]map[uint64]bool{}
	}
	if c.ids[of] == nil {
		c.ids[of] = map[uint64]bool{}
	}
	c.ids[of][id] = true
}

// of returns the ids of one reach that were found.
func (c *changes) of(of reach) map[uint64]bool { return c.ids[of] }

// join adds others to the changes.
func (c *changes) join(o *changes) {
	c.any, c.facts = c.any|o.any, c.facts || o.facts
	for of, ids := range o.ids {
		for id := range ids {
			c.put(of, id)
		}
	}
}

// watcher keeps what follows of sources.
type watcher interface {
	keeper
	accounts() []fleet.AccountID
	changed(fleet.AccountID, *changes)
	wrote(account fleet.AccountID, of reach, at int64)
}

// keeper keeps something, by account.
type keeper interface{ kept() []kept }

// kept is what takes memory.
type kept struct {
	asked int64  // 0 for what is to be let go
	gone  func() // lets go of it
}

// lookAtSources tells those who keep what was worked out of sources which of it may be other by now.
func (r *Roster) lookAtSources(ctx context.Context, seen map[string]known, parts map[string][]part) error {
	watched := map[fleet.AccountID]bool{}
	for _, w := range r.watchers {
		for _, account := range w.accounts() {
			watched[account] = true
		}
	}
	if len(watched) == 0 {
		return nil
	}
	accounts := make([]uint64, 0, len(watched))
	for account := range watched {
		accounts = append(accounts, uint64(account))
	}
	args := []any{clickhouse.Named("accounts", accounts)}
	var texts []string
	var every reach
	past, _ := query.PastBefore(r.now())
	month := past.Format("200601")
	for i := range sources {
		s := &sources[i]
		before, now, these := r.seen[s.table], seen[s.table], parts[s.table]
		if s.of == ofPast { // months that go on do not matter
			these = slices.DeleteFunc(slices.Clone(these), func(p part) bool { return p.partition >= month })
		}
		first, _, other := before.since(&now, these)
		if other {
			every |= s.of
		}
		if first == 0 {
			continue
		}
		block := fmt.Sprintf("block_%d", i)
		texts, args = append(texts, s.question(i, block, month)), append(args, clickhouse.Named(block, first))
	}
	found := map[fleet.AccountID]*changes{}
	of := func(account fleet.AccountID) *changes {
		if found[account] == nil {
			found[account] = &changes{}
		}
		return found[account]
	}
	if every != 0 {
		for account := range watched {
			of(account).any = every
		}
	}
	if texts != nil {
		err := schemas.EachRow(ctx, r.db, "look for what changed beside records", strings.Join(texts, "\nUNION ALL\n"), args,
			func(row schemas.Row) error {
				var source uint8
				var account, id uint64
				if err := row.Scan(&source, &account, &id); err != nil {
					return err
				}
				of(fleet.AccountID(account)).add(&sources[source], id)
				return nil
			})
		if err != nil {
			return err
		}
	}
	for account, c := range found {
		for _, w := range r.watchers {
			w.changed(account, c)
		}
	}
	return nil
}

// question asks for what changed since a block, the name of a parameter; each row says the number of the source. What
// is past lies in the partitions before a month.
func (s *source) question(number int, block, month string) string {
	text, where := schemas.Query("rows_changed"), s.where
	switch {
	case s.key == "":
		text = schemas.Query("heard_changed")
	case s.of == ofPast:
		where = "AND _partition_id < '" + month + "'"
	}
	return strings.NewReplacer("/*source*/ 0", strconv.Itoa(number), "/*table*/", s.table, "/*owner*/ 0", s.key,
		"/*where*/", where, "{block:", "{"+block+":").Replace(text)
}

// reaches are what may be other when a record of a kind is written; everything with "".
var reaches = func() map[string]reach {
	all := map[string]reach{"": ofAll}
	for _, f := range schemas.Feeds() {
		for _, s := range sources {
			if s.table == f.Table {
				for _, kind := range f.Kinds {
					all[kind] |= s.of
				}
			}
		}
	}
	return all
}()

// fresh says whether all that stood at an instant is known, and waits for it if it may be in a moment.
func (r *Roster) fresh(ctx context.Context, need int64) bool {
	if r.looked.Load() > need {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Wait)
	defer cancel()
	return r.wait(ctx, &r.looked, need)
}
