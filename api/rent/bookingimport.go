package rent

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/turo"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// TripImport says what became of one row of a file of trips.
type TripImport struct {
	Row         int               `json:"row" doc:"The row of the file as a spreadsheet shows it: 1 is the row that names the columns."`
	Status      string            `json:"status" enum:"created,updated,unchanged,rejected"`
	Reservation string            `json:"external_reservation_id,omitempty"`
	ID          string            `json:"id,omitempty" example:"bkg_1234"`
	Conflict    bool              `json:"conflict" doc:"The trip overlaps something else that holds its vehicle."`
	Code        string            `json:"code,omitempty" doc:"Why it was rejected."`
	Detail      string            `json:"detail,omitempty"`
	Errors      []rest.FieldIssue `json:"errors,omitempty" nullable:"false"`
}

// TripImportReply answers an import of trips.
type TripImportReply struct {
	Data      []TripImport `json:"data" nullable:"false"`
	Created   int          `json:"created"`
	Updated   int          `json:"updated"`
	Unchanged int          `json:"unchanged"`
	Rejected  int          `json:"rejected"`
	Conflicts int          `json:"conflicts"`
}

func (a *API) bookingImportRoutes() {
	a.Handle(rest.Route{
		Method: "POST", Path: "/v1/bookings/import", ID: "importBookings", Tag: "Bookings", Scope: auth.BookingsWrite,
		Summary: "Import trips of a channel",
		About: "The CSV of trips that Turo gives its hosts: at most 1,000 rows. Each row becomes a booking under its reservation id, or brings the one up to date that an earlier " +
			"import made. Vehicles are found by VIN, else by plate, nickname or name; guests become customers. Nothing is refused because the vehicle is taken: such a booking has `conflict`. " +
			"Each row is judged by itself. Times are local to the account unless they say otherwise.",
		Params: []rest.Param{{Name: "format", Enum: []string{"turo"}, Required: true, About: "Whose file it is."}},
		Body:   &huma.Schema{Type: "string", Description: "CSV."}, BodyTypes: []string{"text/csv"},
		BodyLimit: a.Config.IngestLimit,
		Reply:     TripImportReply{}, Timeout: 5 * time.Minute,
	}, a.importTrips)
}

func (a *API) importTrips(w http.ResponseWriter, r *http.Request) error {
	ctx, account := r.Context(), auth.From(r.Context()).Account
	vehicles, err := a.allVehicles(r)
	if err != nil {
		return err
	}
	im, err := a.desk.Importer(ctx, rest.Author(r), account, vehicles)
	if err != nil {
		return err
	}
	trips, err := im.Parse(bytes.NewReader(rest.RequestBody(r)))
	if err != nil {
		return fleet.NewError(fleet.CodeValidation, "The file cannot be imported: "+err.Error()+".",
			fleet.FieldError{Pointer: "", Code: "invalid", Detail: err.Error()})
	}
	if err := a.SpendItems(w, account, len(trips)); err != nil {
		return err
	}
	reply := TripImportReply{Data: []TripImport{}}
	for i := range trips {
		row := TripImport{Row: trips[i].Row, Reservation: trips[i].Reservation}
		if err := row.Bring(r, im, &trips[i]); err != nil {
			return err
		}
		reply.count(&row)
		reply.Data = append(reply.Data, row)
	}
	return rest.WriteJSON(w, r, http.StatusOK, reply)
}

// Bring imports one trip. What is wrong with the trip is told in its row; an error is ours.
func (row *TripImport) Bring(r *http.Request, im *desk.Importer, t *turo.Trip) error {
	if t.Err != nil {
		row.Status, row.Code, row.Detail = "rejected", string(fleet.CodeValidation), t.Err.Error()
		return nil
	}
	rec, outcome, err := im.Trip(r.Context(), t)
	if e, ok := errors.AsType[*fleet.Error](err); ok && e.Code != fleet.CodeUnavailable {
		row.Status, row.Code, row.Detail = "rejected", string(e.Code), e.Message
		for _, f := range e.Fields {
			row.Errors = append(row.Errors, rest.FieldIssue(f))
		}
		return nil
	}
	if err != nil {
		return err
	}
	row.Status, row.ID, row.Conflict = outcome, fleet.FormatID(fleet.BookingPrefix, rec.ID), rec.Body.Conflict
	return nil
}

// count adds a row to the sums.
func (t *TripImportReply) count(row *TripImport) {
	switch row.Status {
	case desk.ImportCreated:
		t.Created++
	case desk.ImportUpdated:
		t.Updated++
	case desk.ImportUnchanged:
		t.Unchanged++
	default:
		t.Rejected++
	}
	if row.Conflict {
		t.Conflicts++
	}
}

// allVehicles reads the vehicles of the caller's account.
func (a *API) allVehicles(r *http.Request) ([]record.Record[record.Vehicle], error) {
	req := query.ListRequest{Account: auth.From(r.Context()).Account, Limit: 1000}
	var all []record.Record[record.Vehicle]
	for {
		page, err := query.List(r.Context(), a.DB, &query.Vehicles, req)
		if err != nil {
			return nil, err
		}
		for _, stored := range page.Records {
			rec, err := rest.FromStored[record.Vehicle](req.Account, stored)
			if err != nil {
				return nil, err
			}
			all = append(all, rec)
		}
		if page.Next == nil {
			return all, nil
		}
		req.After = page.Next
	}
}
