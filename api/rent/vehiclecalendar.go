package rent

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// VehicleCalendar is what holds a vehicle in a period, and when it is free.
type VehicleCalendar struct {
	Object    string         `json:"object" doc:"Always calendar." example:"calendar"`
	VehicleID string         `json:"vehicle_id" example:"veh_1234"`
	From      record.Instant `json:"from"`
	To        record.Instant `json:"until"`
	Holds     []VehicleHold  `json:"holds" nullable:"false" doc:"By from. They overlap only where one is a conflict, or where a block or work order lies in the buffer after a rental."`
	Free      []FreePeriod   `json:"free" nullable:"false" doc:"What nobody holds of the period that is still to come or going on."`
}

// VehicleHold is a period, half open, during which something holds a vehicle.
type VehicleHold struct {
	Kind      string         `json:"kind" doc:"booking, block, work_order, or retired." example:"booking"`
	ID        string         `json:"id" doc:"Of the booking, block or work order; of the vehicle, if it is retired." example:"bkg_1234"`
	From      record.Instant `json:"from" doc:"With buffers."`
	Until     record.Instant `json:"until" doc:"With buffers; the first moment that is not held."`
	Status    string         `json:"status,omitempty" doc:"Of the booking or work order."`
	Reason    string         `json:"reason,omitempty" doc:"Of the block; the title of the work order."`
	BeginsID  *string        `json:"from_location_id" doc:"Where the vehicle must be at from; null for wherever it is." example:"loc_1234"`
	EndsID    *string        `json:"to_location_id" doc:"Where it is left, by a booking or a transfer; null for where it was." example:"loc_1234"`
	Conflict  bool           `json:"conflict" doc:"It may overlap others: a channel had sold the vehicle twice."`
	ExpiresAt record.Instant `json:"expires_at" doc:"When a pending booking lapses; null for never."`
}

// FreePeriod is a period, half open, in which nothing holds a vehicle.
type FreePeriod struct {
	From  record.Instant `json:"from"`
	Until record.Instant `json:"until"`
}

// calendarSpan is how much a calendar shows unless told, and calendarMost how much at most.
const (
	calendarSpan = 90 * 24 * time.Hour
	calendarMost = 400 * 24 * time.Hour
)

func (a *API) vehicleCalendarRoutes() {
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/vehicles/{id}/calendar", ID: "getVehicleCalendar", Tag: "Vehicles",
		Scope:   auth.VehiclesRead,
		Summary: "Get what holds a vehicle, and when it is free",
		About:   "Bookings, blocks and work orders in one list. Holds that ended more than 400 days ago are forgotten.",
		Params: []rest.Param{
			{Name: "from", Format: "date-time", About: "Now unless given."},
			{Name: "until", Format: "date-time", About: "90 days after from unless given, and at most 400."},
		},
		Reply: VehicleCalendar{},
	}, a.vehicleCalendar)
}

func (a *API) vehicleCalendar(w http.ResponseWriter, r *http.Request) error {
	vehicle, err := a.vehicleInPath(r)
	if err != nil {
		return err
	}
	now := a.Now()
	from := rest.TimeParam(r, "from", fleet.MillisOf(now)).Time()
	to := rest.TimeParam(r, "until", fleet.MillisOf(from.Add(calendarSpan))).Time()
	switch {
	case from.Year() < 1900 || from.Year() > 2199:
		return rest.InvalidParam("from", "must lie between the years 1900 and 2199")
	case !from.Before(to):
		return rest.InvalidParam("until", "must be after from")
	case to.Sub(from) > calendarMost:
		return rest.InvalidParam("until", "must be at most 400 days after from")
	}
	account := auth.From(r.Context()).Account
	id, _ := rest.PathID(r, "vehicle", fleet.VehiclePrefix)
	holds, err := a.desk.Calendars.Of(r.Context(), account, id)
	if err != nil {
		return err
	}
	answer := VehicleCalendar{Object: "calendar", VehicleID: vehicle, From: record.InstantOf(from),
		To: record.InstantOf(to), Holds: []VehicleHold{}}
	free := from
	if now.After(free) {
		free = now // nobody can be given the past
	}
	answer.Free = freeBetween(holds, free, to, now)
	for _, h := range holds {
		if !h.Overlaps(from, to) || !h.Expires.IsZero() && !now.Before(h.Expires.Time) {
			continue
		}
		if h.Ref == vehicle && slices.ContainsFunc(answer.Holds, func(o VehicleHold) bool { return o.ID == vehicle }) {
			continue // it was retired, and archived after that
		}
		shown := VehicleHold{ID: h.Ref, From: h.From, Until: h.Until, Conflict: h.Conflict, ExpiresAt: h.Expires,
			BeginsID: rest.TextOrNull(h.Begins), EndsID: rest.TextOrNull(h.Ends)}
		if err := a.describeHold(r.Context(), account, &shown); err != nil {
			return err
		}
		answer.Holds = append(answer.Holds, shown)
	}
	return rest.WriteJSON(w, r, http.StatusOK, answer)
}

// describeHold says what a hold is for. A holder that was never written says nothing.
func (a *API) describeHold(ctx context.Context, account fleet.AccountID, h *VehicleHold) error {
	prefix, _, _ := strings.Cut(h.ID, "_")
	prefix += "_"
	id, err := fleet.ParseID(prefix, h.ID)
	if err != nil {
		return nil
	}
	switch prefix {
	case fleet.BookingPrefix:
		var b record.Record[record.Booking]
		h.Kind = "booking"
		if b, err = a.desk.Bookings.Get(ctx, account, id); err == nil {
			h.Status = b.Body.Status
		}
	case fleet.BlockPrefix:
		var b record.Record[record.Block]
		h.Kind = "block"
		if b, err = a.desk.Blocks.Get(ctx, account, id); err == nil {
			h.Reason = b.Body.Reason
		}
	case fleet.WorkOrderPrefix:
		var b record.Record[record.WorkOrder]
		h.Kind = "work_order"
		if b, err = a.desk.Work.Get(ctx, account, id); err == nil {
			h.Status, h.Reason = b.Body.Status, b.Body.Title
		}
	case fleet.VehiclePrefix:
		h.Kind, h.Status = "retired", record.VehicleRetired
	}
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return nil
	}
	return err
}

// freeBetween returns what holds, which are in order of their beginnings, leave free of a period; what has lapsed
// holds nothing.
func freeBetween(holds []calendar.Hold, from, to, now time.Time) []FreePeriod {
	free := []FreePeriod{}
	for i := range holds {
		h := &holds[i]
		if !h.Expires.IsZero() && !now.Before(h.Expires.Time) || !h.Until.After(from) {
			continue
		}
		if !h.From.Before(to) {
			break
		}
		if h.From.After(from) {
			free = append(free, FreePeriod{From: record.InstantOf(from), Until: h.From})
		}
		from = h.Until.Time
	}
	if from.Before(to) {
		free = append(free, FreePeriod{From: record.InstantOf(from), Until: record.InstantOf(to)})
	}
	return free
}
