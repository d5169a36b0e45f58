// Package outlook serves what is likely to come and what follows from it: expected utilization, pace against last year,
// days that are sold too cheaply or too dearly, and vehicles that lose money. It reads the facts of past days and the
// bookings, hands them to the forecast, and puts its inputs and how far off it was in the past beside each answer.
package outlook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/forecast"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// API holds what it takes to look ahead.
type API struct {
	*rest.Server
	accounts *record.Log[record.Account]
}

// New makes the room on a server. It registers nothing.
func New(s *rest.Server) *API {
	return &API{Server: s, accounts: record.NewLog(s.Store, record.Accounts)}
}

// asker is who asks, for what.
type asker struct {
	request  *http.Request
	account  fleet.AccountID
	zone     *time.Location
	currency string
	at       time.Time
	today    ledger.Day // in the zone of the account
	classes  []uint64   // that are asked about; empty for all
}

// answered is the handler of a question, which takes its turn among what takes long.
func (a *API) answered(
	answer func(ctx context.Context, q *asker) (any, error),
) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		q, err := a.by(r)
		if err != nil {
			return err
		}
		if _, err := a.LongTurn(w, r); err != nil {
			return err
		}
		body, err := answer(r.Context(), q)
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusOK, body)
	}
}

// by reads who asks, for which classes and in which currency.
func (a *API) by(r *http.Request) (*asker, error) {
	account := auth.From(r.Context()).Account
	rec, err := a.accounts.Get(r.Context(), account, uint64(account))
	if err != nil {
		return nil, err
	}
	q := &asker{request: r, account: account, at: a.Now(), currency: rest.TextParam(r, "currency", rec.Body.Currency)}
	if q.zone, err = query.ZoneNamed(rec.Body.Timezone, time.UTC); err != nil {
		q.zone = time.UTC
	}
	q.today = ledger.DayOf(q.at, q.zone)
	q.classes, err = rest.IDsParam[uint64](r, "vehicle_class_id", fleet.ClassPrefix)
	return q, err
}

// span is a span of local days of who asks.
func (q *asker) span(from, to ledger.Day) query.DaySpan {
	return query.DaySpan{Account: q.account, From: from.String(), To: to.String(), Zone: q.zone.String()}
}

// asks says whether a class is asked about.
func (q *asker) asks(class uint64) bool {
	return len(q.classes) == 0 || slices.Contains(q.classes, class)
}

// ClassRef is a class of vehicles by id and name.
type ClassRef struct {
	VehicleClassID *string `json:"vehicle_class_id" doc:"Null for vehicles and bookings of no class." example:"vcl_1234"`
	Name           string  `json:"name"`
}

// refs are ids and names of classes.
func (a *API) refs(ctx context.Context, account fleet.AccountID, classes []uint64) (map[uint64]ClassRef, error) {
	found, err := query.RecordsByID(ctx, a.DB, &query.VehicleClasses, account, classes)
	if err != nil {
		return nil, err
	}
	refs := map[uint64]ClassRef{0: {}}
	for _, class := range classes {
		if class == 0 {
			continue
		}
		id := fleet.FormatID(fleet.ClassPrefix, class)
		var body struct{ Name string }
		if stored, ok := found[class]; ok {
			if err := json.Unmarshal([]byte(stored.Body), &body); err != nil {
				return nil, fmt.Errorf("read class %s: %w", id, err)
			}
		}
		refs[class] = ClassRef{VehicleClassID: &id, Name: body.Name}
	}
	return refs, nil
}

// historyYears is how much of the past forecasts are made of.
const historyYears = 3

// past is what is known of an account, a series for each class, and all together.
type past struct {
	classes    []*forecast.Series // by id
	refs       map[uint64]ClassRef
	total      *forecast.Series
	history    forecast.History
	afterwards uint64 // bookings of the past that were written down after their pickup
}

// pastOf reads what is known of an account until now, and what is planned.
func (a *API) pastOf(ctx context.Context, q *asker) (*past, error) {
	first, last := q.today-historyYears*366, q.today+forecast.Horizon
	days := int(last-first) + 1
	series := map[uint64]*forecast.Series{}
	of := func(class uint64) *forecast.Series {
		s := series[class]
		if s == nil {
			s = forecast.NewSeries(class, first, days)
			series[class] = s
		}
		return s
	}
	known, err := query.ClassDays(ctx, a.Long, q.span(first, q.today-1))
	if err != nil {
		return nil, err
	}
	for _, had := range known {
		d := of(had.Class).At(ledger.Day(had.Day))
		d.Known, d.Rented, d.Rentable = true, had.RentedS, had.RentableS
	}
	planned, err := query.ClassCapacity(ctx, a.Long, q.span(q.today, last))
	if err != nil {
		return nil, err
	}
	for _, will := range planned {
		of(will.Class).At(ledger.Day(will.Day)).Rentable = will.RentableS
	}
	p := &past{}
	calendar := forecast.CalendarOf(first, days, q.zone)
	err = query.EachStay(ctx, a.Long, q.span(first, last), func(s *query.Stay) {
		of(s.Class).Book(calendar, forecast.Stay{Begins: s.Begins, Ends: s.Ends, Booked: ledger.Day(s.Booked),
			Gone: s.Gone, Left: ledger.Day(s.Left)})
		if s.Afterwards {
			p.afterwards++
		}
	})
	if err != nil {
		return nil, err
	}
	ids := slices.Sorted(maps.Keys(series))
	for _, class := range ids {
		p.classes = append(p.classes, series[class])
	}
	if p.refs, err = a.refs(ctx, q.account, ids); err != nil {
		return nil, err
	}
	p.total = forecast.Total(p.classes)
	p.history = forecast.HistoryOf(p.total, q.today)
	return p, nil
}
