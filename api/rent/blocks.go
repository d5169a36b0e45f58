package rent

import (
	"net/http"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Block is a block of a vehicle's calendar as it is answered.
type Block struct {
	ID        string `json:"id" doc:"Identity." example:"blk_1234"`
	VehicleID string `json:"vehicle_id" example:"veh_1234"`

	record.BlockFields

	SourceID string `json:"source_id,omitempty" doc:"The record that made it, if a person did not."`
	Object   string `json:"object" doc:"Always block." example:"block"`

	rest.Stamps
}

func (a *API) blockRoutes() {
	s := &rest.Resource[record.Block]{
		Server: a.Server, Log: a.desk.Blocks, Listing: &query.Blocks,
		Titles:   rest.Titles{Path: "/v1/blocks", Tag: "Vehicles", Noun: "block", Nouns: "blocks"},
		Scope:    rest.Scopes{Read: auth.VehiclesRead, Write: auth.VehiclesWrite},
		Views:    rest.Views{View: Block{}, Fields: record.BlockFields{}},
		Writable: func(b *record.Block) any { return &b.BlockFields },
		Show:     rest.ShowEach(showBlock),
		Prepare:  func(_ *http.Request, _ uint64, _, b *record.Block) error { return checkBlock(b) },
		Write: func(r *http.Request, w rest.Writing[record.Block]) (record.Record[record.Block], error) {
			if w.Body == nil {
				return a.desk.Yard.ChangeBlock(r.Context(), rest.Author(r), auth.From(r.Context()).Account, w.ID, w.Change)
			}
			return a.desk.Yard.Block(r.Context(), rest.Author(r), auth.From(r.Context()).Account, w.ID, *w.Body)
		},
		MayArchive: rest.ArchiveIf(func(r *http.Request, rec *record.Record[record.Block]) error {
			return a.desk.Yard.MayGiveUp(r.Context(), rec)
		}),
	}
	s.Register("create")

	nested := *s
	nested.Choose = a.withinVehicle
	const path = "/v1/vehicles/{id}/blocks"
	a.Handle(rest.Route{
		Method: "GET", Path: path, ID: "listVehicleBlocks", Tag: "Vehicles", Scope: auth.VehiclesRead,
		Summary: "List the blocks of a vehicle's calendar",
		Params:  slices.Concat(rest.PageParams, rest.Without(s.ListParams(), "vehicle_id"), rest.FieldsParams),
		Reply:   a.ListSchema(Block{}),
	}, nested.List)
	a.Handle(rest.Route{
		Method: "POST", Path: path, ID: "createVehicleBlock", Tag: "Vehicles", Scope: auth.VehiclesWrite,
		Summary: "Block a vehicle's calendar",
		About: "While it lasts the vehicle is not for rent. A 409 names the booking, block or work order that is in the way. With `to_location_id` it is a transfer: " +
			"the vehicle is brought to another location, and bookings from there can be given it after that. A transfer that leaves too few vehicles of the class for what is booked " +
			"where it begins is a 409, and so is one that takes the vehicle from where its next booking begins.",
		Body: record.BlockFields{}, Status: 201, Reply: Block{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		vehicle, err := a.vehicleInPath(r)
		if err != nil {
			return err
		}
		b := record.Block{VehicleID: vehicle}
		if err := a.DecodeBody(r, &b.BlockFields); err != nil {
			return err
		}
		if err := checkBlock(&b); err != nil {
			return err
		}
		rec, err := s.Insert(r, a.NewID(r), b)
		if err != nil {
			return err
		}
		return s.Answer(w, r, http.StatusCreated, rec)
	})
}

// checkBlock completes a block, and refuses one that ends before it begins.
func checkBlock(b *record.Block) error {
	if b.Kind == "" && b.ToLocationID != "" {
		b.Kind = "relocation"
	}
	if b.Kind == "" {
		b.Kind = "manual"
	}
	if b.FromLocationID != "" && b.ToLocationID == "" {
		return fleet.Invalid(fleet.FieldError{Pointer: "/to_location_id", Code: "required",
			Detail: "must say where the vehicle is brought to"})
	}
	if !b.From.Before(b.Until.Time) {
		return fleet.Invalid(fleet.FieldError{Pointer: "/until", Code: "invalid", Detail: "must be after from"})
	}
	if b.From.Year() < 1900 || b.Until.Year() > 2200 {
		return fleet.Invalid(fleet.FieldError{Pointer: "/from", Code: "invalid",
			Detail: "the time must lie between the years 1900 and 2200"})
	}
	return nil
}

func showBlock(rec record.Record[record.Block]) any {
	b := rec.Body
	return Block{ID: fleet.FormatID(fleet.BlockPrefix, rec.ID), VehicleID: b.VehicleID, BlockFields: b.BlockFields,
		SourceID: b.SourceID, Object: "block", Stamps: rest.StampsOf(rec)}
}
