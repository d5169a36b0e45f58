package track

import (
	"net/http"
	"strconv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// DriverTag is a key, card or tag by which drivers log in, as it is answered.
type DriverTag struct {
	ID string `json:"id" doc:"Identity." example:"dtg_1234"`

	record.DriverTagFields

	Object string `json:"object" doc:"Always driver_tag." example:"driver_tag"`

	rest.Stamps
}

// UnknownTag is a tag that trackers reported and nobody held then.
type UnknownTag struct {
	Tag        string         `json:"tag" example:"1A0000011D2A5C01"`
	FirstAt    record.Instant `json:"first_at" doc:"In the span."`
	LastAt     record.Instant `json:"last_at"`
	Reports    uint64         `json:"reports"`
	VehicleIDs []string       `json:"vehicle_ids" nullable:"false" doc:"Where; at most 100."`
}

// maxUnknownTags is how many unknown tags are listed.
const maxUnknownTags = 1000

func (a *API) driverTagRoutes() {
	s := &rest.Resource[record.DriverTag]{
		Server: a.Server, Log: a.desk.Tags, Listing: &query.DriverTags,
		Titles: rest.Titles{
			Path: "/v1/driver_tags", Tag: "Drivers", Noun: "driver tag", Nouns: "driver tags",
			About: "Whoever holds a tag drove the trips on which a tracker reported it, those of the past too. Off trips each report is a login for at most 15 minutes, or until another tag or a logout is reported.",
		},
		Scope:    rest.Scopes{Read: auth.CustomersRead, Write: auth.CustomersWrite},
		Views:    rest.Views{View: DriverTag{}, Fields: record.DriverTagFields{}},
		Writable: func(t *record.DriverTag) any { return &t.DriverTagFields },
		Show: rest.ShowEach(func(rec record.Record[record.DriverTag]) any {
			return DriverTag{ID: fleet.FormatID(fleet.DriverTagPrefix, rec.ID), DriverTagFields: rec.Body.DriverTagFields,
				Object: "driver_tag", Stamps: rest.StampsOf(rec)}
		}),
		Prepare: func(r *http.Request, _ uint64, _, t *record.DriverTag) error {
			t.Complete()
			if err := rest.ValidationError(t.Faults()); err != nil {
				return err
			}
			names := make([]string, len(t.Holders))
			for i, h := range t.Holders {
				names[i] = h.DriverID
			}
			return a.CheckAllExist(r, &query.Customers, fleet.CustomerPrefix, names, "/holders/", "customer")
		},
	}
	s.Register()
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/driver_tags/unknown", ID: "listUnknownDriverTags", Tag: "Drivers",
		Scope:   auth.CustomersRead,
		Summary: "List tags that nobody holds",
		About: "What trackers reported in the span while no holder of a driver tag had it, the last reported first; the newest " +
			strconv.Itoa(maxUnknownTags) + ", on one page. " +
			"Write a driver tag with a holder from then on, or without `from`, and the trips of then show the driver.",
		Params: rest.SpanParams("30 days"),
		Reply:  rest.List[UnknownTag]{},
	}, a.unknownTags)
}

func (a *API) unknownTags(w http.ResponseWriter, r *http.Request) error {
	from, to, err := scoreSpan(r, fleet.MillisOf(a.Now()))
	if err != nil {
		return err
	}
	found, err := query.UnknownTags(r.Context(), a.DB, auth.From(r.Context()).Account, from, to, maxUnknownTags)
	if err != nil {
		return err
	}
	views := make([]UnknownTag, len(found))
	for i, t := range found {
		views[i] = UnknownTag{Tag: t.Tag, FirstAt: record.InstantOf(t.First), LastAt: record.InstantOf(t.Last),
			Reports: t.Reports, VehicleIDs: []string{}}
		for _, v := range t.Vehicles {
			views[i].VehicleIDs = append(views[i].VehicleIDs, fleet.VehicleID(v).String())
		}
	}
	return rest.WriteJSON(w, r, http.StatusOK,
		rest.List[UnknownTag]{Data: views, Pagination: rest.Pagination{Page: 1, PerPage: maxUnknownTags, Total: len(views)}})
}
