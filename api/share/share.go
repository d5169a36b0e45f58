// Package share serves share links: with one, somebody without an account sees where a vehicle is, for a limited time,
// and no more than was chosen.
//
// The secret of a link is shown once, when it is made, and kept as a hash. It stands in the fragment of the link's
// address, which browsers send to nobody: the page at /share reads it and asks by the body of a request, so that it
// comes into no log. What is unknown, has lapsed or was revoked is refused in the same words.
//
// A link shows what whoever made it may see when it is opened. A key that is revoked, or a person who left, takes their
// links with them.
package share

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// API holds share links.
type API struct {
	*rest.Server

	links    *record.Log[record.ShareLink]
	vehicles *record.Log[record.Vehicle]
	bookings *record.Log[record.Booking]

	guesses *auth.Throttle // by the network that sends what opens nothing
	opens   *auth.Throttle // by link
}

// New makes share links on a server. It registers nothing.
func New(s *rest.Server) *API {
	return &API{Server: s, links: record.NewLog(s.Store, record.ShareLinks),
		vehicles: record.NewLog(s.Store, record.Vehicles), bookings: record.NewLog(s.Store, record.Bookings),
		guesses: auth.NewThrottle(60, time.Minute, s.Now), opens: auth.NewThrottle(600, time.Minute, s.Now)}
}

const (
	longest = 90 * 24 * time.Hour // a link is good
	behind  = 30 * time.Minute    // so far back goes the way that is shown
	most    = 200                 // places of it
)

// ShareLink is a share link as it is answered.
type ShareLink struct {
	ID     string `json:"id" doc:"Identity." example:"shl_1234"`
	Secret string `json:"secret,omitempty" doc:"What opens it; only in the answer that made it."`
	URL    string `json:"url,omitempty" doc:"The address to pass on, behind that of this server, with the secret in its fragment; only in the answer that made it." example:"/share#Zk3…"`

	record.ShareLinkFields

	Object string `json:"object" doc:"Always share_link." example:"share_link"`

	rest.Stamps
}

// Opening is what somebody sends who has a link.
type Opening struct {
	Secret string `json:"secret" minLength:"1" maxLength:"100" doc:"The part of the link behind #."`
}

// Shared is what a link shows. What was not chosen is not there.
type Shared struct {
	State     string         `json:"state" enum:"live,not_begun,ended,nowhere" doc:"live; not_begun and ended of a booking that is not active yet, or no more; nowhere while no place is known."`
	ExpiresAt record.Instant `json:"expires_at"`
	Place     *Spot          `json:"place,omitempty" doc:"Only while it is live."`
	Plate     string         `json:"license_plate,omitempty"`
	Name      string         `json:"name,omitempty" doc:"Make, model and nickname."`
	Trail     [][2]float64   `json:"trail,omitempty" nullable:"false" doc:"Longitudes and latitudes of the last half hour, the oldest first."`
}

// Spot is where a vehicle is.
type Spot struct {
	Lat     float64        `json:"lat" doc:"Degrees WGS 84."`
	Lng     float64        `json:"lng"`
	At      record.Instant `json:"at" doc:"When it was there."`
	Address string         `json:"address,omitempty"`
	Speed   *float64       `json:"speed_mph,omitempty" nullable:"false"`
	Course  *float64       `json:"course_deg,omitempty" nullable:"false"`
}

// Routes registers share links.
func (a *API) Routes() {
	s := &rest.Resource[record.ShareLink]{
		Server: a.Server, Log: a.links, Listing: &query.ShareLinks,
		Titles: rest.Titles{Path: "/v1/share_links", Tag: "Share links", Noun: "share link", Nouns: "share links"},
		Scope:  rest.Scopes{Read: auth.TelematicsRead, Write: auth.TelematicsWrite},
		Views:  rest.Views{View: ShareLink{}, Fields: record.ShareLinkFields{}},
		Show: rest.ShowEach(func(rec record.Record[record.ShareLink]) any {
			return show(rec)
		}),
	}
	s.Register("create", "replace", "patch", "batch", "import")
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: s.Path, ID: "createShareLink", Tag: s.Tag, Scope: auth.TelematicsWrite,
		Summary: "Create a share link",
		About: "Whoever has the link sees where the vehicle is until `expires_at`, and of it what `show` names. The answer has the link, this once. It takes what the link shows: " +
			"`telematics:read`, `vehicles:read` for plate and name, `bookings:read` for a booking; and shows nothing once whoever made it may not see that any more. " +
			"Archiving it revokes it at once. An answer that is replayed for an Idempotency-Key does not show the link again.",
		Body: record.ShareLinkFields{}, Status: http.StatusCreated, Reply: ShareLink{},
	}, a.create)
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: "/v1/share_links/open", ID: "openShareLink", Tag: s.Tag, Public: true,
		Summary: "See what a share link shows",
		About:   "Needs no credential but the secret of the link. One that is unknown, has lapsed or was revoked is a 404.",
		Body:    Opening{}, Reply: Shared{},
	}, a.open)
}

func show(rec record.Record[record.ShareLink]) ShareLink {
	return ShareLink{ID: fleet.FormatID(fleet.ShareLinkPrefix, rec.ID), ShareLinkFields: rec.Body.ShareLinkFields,
		Object: "share_link", Stamps: rest.StampsOf(rec)}
}

func (a *API) create(w http.ResponseWriter, r *http.Request) error {
	var sent record.ShareLinkFields
	if err := a.DecodeBody(r, &sent); err != nil {
		return err
	}
	p := auth.From(r.Context())
	if err := a.check(r, p, &sent); err != nil {
		return err
	}
	secret, hash := auth.MakeShareSecret()
	body := record.ShareLink{ShareLinkFields: sent, Asker: rest.AskerOf(p), SecretSHA256: hash}
	if p.Client == 0 {
		body.Scopes = nil // what a key or a person may do is what they may do then
	}
	rec, err := rest.CreateSecret(r, a.links, a.NewID(r), body, func(b *record.ShareLink) { b.SecretSHA256 = hash })
	if err != nil {
		return err
	}
	view := show(rec)
	if rest.ExchangeOf(r.Context()).Unstored, err = rest.EncodeJSON(a.WithAllMembers(view), false); err != nil {
		return err
	}
	view.Secret, view.URL = secret, "/share#"+secret
	w.Header().Set("ETag", rest.ETagOf(rec.Revision, nil))
	base, _, _ := strings.Cut(r.URL.Path, "/v1/share_links")
	w.Header().Set("Location", base+"/v1/share_links/"+view.ID)
	return rest.WriteJSON(w, r, http.StatusCreated, a.WithAllMembers(view))
}

// check refuses a link that its schema cannot, and that shows more than whoever makes it may see.
func (a *API) check(r *http.Request, p *auth.Principal, sent *record.ShareLinkFields) error {
	needs := []auth.Scope{auth.TelematicsRead}
	if sent.BookingID != "" {
		needs = append(needs, auth.BookingsRead)
	}
	if slices.Contains(sent.Show, "plate") || slices.Contains(sent.Show, "name") {
		needs = append(needs, auth.VehiclesRead)
	}
	for _, scope := range needs {
		if err := rest.RequireScope(p, scope); err != nil {
			return err
		}
	}
	now := a.Now()
	switch {
	case (sent.VehicleID == "") == (sent.BookingID == ""):
		return fleet.Invalid(fleet.FieldError{Pointer: "/vehicle_id", Code: "invalid",
			Detail: "give either vehicle_id or booking_id"})
	case !sent.ExpiresAt.After(now):
		return fleet.Invalid(fleet.FieldError{Pointer: "/expires_at", Code: "invalid", Detail: "must lie ahead"})
	case sent.ExpiresAt.After(now.Add(longest)):
		return fleet.Invalid(fleet.FieldError{Pointer: "/expires_at", Code: "too_large",
			Detail: "must be at most 90 days ahead"})
	}
	slices.Sort(sent.Show)
	sent.Show = slices.Compact(sent.Show)
	if sent.BookingID != "" {
		return a.CheckBooking(r, sent.BookingID, "/booking_id")
	}
	return a.CheckExists(r, &query.Vehicles, fleet.VehiclePrefix, sent.VehicleID, "/vehicle_id", "vehicle")
}

// errNothing is the one refusal of whatever opens nothing.
var errNothing = fleet.NewError(fleet.CodeNotFound,
	"This link shows nothing: it has lapsed, was revoked, or is not complete. Ask for a new one.")

// errWait is for who guesses, and for a link that too many look at.
var errWait = fleet.NewError(fleet.CodeRateLimited, "This was asked for too often. Try again in a minute.")

func (a *API) open(w http.ResponseWriter, r *http.Request) error {
	var sent Opening
	if err := a.DecodeBody(r, &sent); err != nil {
		return err
	}
	if len(sent.Secret) != auth.ShareSecretLength {
		return errNothing
	}
	stranger := auth.Network(a.ClientAddr(r))
	if !a.guesses.Take(stranger) {
		return errWait
	}
	ctx := r.Context()
	account, id, err := query.ShareLinkBySecret(ctx, a.DB, auth.Hash(sent.Secret))
	if err != nil {
		return err
	}
	if id == 0 {
		return errNothing
	}
	a.guesses.Give(stranger)
	if !a.opens.Take(strconv.FormatUint(id, 10)) {
		return errWait
	}
	link, err := a.links.Get(ctx, account, id)
	if err != nil {
		return err
	}
	if link.Archived() || !link.Body.ExpiresAt.After(a.Now()) || !auth.Matches(sent.Secret, link.Body.SecretSHA256) {
		return errNothing
	}
	p, err := a.MayNow(ctx, account, &link.Body.Asker, auth.TelematicsRead)
	if err != nil {
		if fleet.CodeOf(err) == fleet.CodeForbidden {
			return errNothing
		}
		return err
	}
	shown, err := a.shown(ctx, p, &link.Body)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return rest.WriteJSON(w, r, http.StatusOK, shown)
}

// shown is what a link shows now, of what whoever made it may see now.
func (a *API) shown(ctx context.Context, p *auth.Principal, link *record.ShareLink) (Shared, error) {
	shown := Shared{State: "live", ExpiresAt: link.ExpiresAt}
	vehicle := link.VehicleID
	var since record.Instant // since when whoever is followed has the vehicle
	if link.BookingID != "" {
		if !p.Has(auth.BookingsRead) {
			return shown, errNothing
		}
		id, err := fleet.ParseID(fleet.BookingPrefix, link.BookingID)
		if err != nil {
			return shown, err
		}
		booking, err := a.bookings.Get(ctx, p.Account, id)
		if err != nil {
			return shown, err
		}
		vehicle, since = booking.Body.VehicleID, booking.Body.ActualPickupAt
		if swaps := booking.Body.VehicleSwaps; len(swaps) > 0 && swaps[len(swaps)-1].Until.After(since.Time) {
			since = swaps[len(swaps)-1].Until
		}
		switch booking.Body.Status {
		case record.BookingActive:
		case record.BookingPending, record.BookingConfirmed:
			shown.State = "not_begun"
		default:
			shown.State = "ended"
		}
		if shown.State != "live" {
			return shown, nil
		}
	}
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	if err != nil {
		return shown, err
	}
	if err := a.describe(ctx, p, link, id, &shown); err != nil {
		return shown, err
	}
	return shown, a.locate(ctx, p.Account, fleet.VehicleID(id), fleet.MillisOf(since.Time), link, &shown)
}

// describe adds what is shown of the vehicle beside its place.
func (a *API) describe(ctx context.Context, p *auth.Principal, link *record.ShareLink, id uint64, to *Shared) error {
	plate, name := slices.Contains(link.Show, "plate"), slices.Contains(link.Show, "name")
	if !plate && !name || !p.Has(auth.VehiclesRead) {
		return nil
	}
	v, err := a.vehicles.Get(ctx, p.Account, id)
	if err != nil {
		return err
	}
	if plate {
		to.Plate = v.Body.LicensePlate
	}
	if name {
		to.Name = strings.Join(strings.Fields(v.Body.Make+" "+v.Body.Model+" "+v.Body.Nickname), " ")
	}
	return nil
}

// locate adds where the vehicle is, and where it came from, but nothing of before an instant: that was somebody else.
func (a *API) locate(ctx context.Context, account fleet.AccountID, vehicle fleet.VehicleID, since fleet.Millis,
	link *record.ShareLink, to *Shared) error {
	found, _, err := a.LatestPositions(ctx, query.LatestFilter{Account: account, Vehicles: []fleet.VehicleID{vehicle},
		Box: query.World, Limit: 1})
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].Position.FixTime < since {
		to.State = "nowhere"
		return nil
	}
	at := &found[0].Position
	to.Place = &Spot{Lat: at.Lat, Lng: at.Lng, At: rest.Instant(at.FixTime)}
	if slices.Contains(link.Show, "address") {
		to.Place.Address = a.Address(at.Lat, at.Lng)
	}
	if slices.Contains(link.Show, "speed") {
		to.Place.Speed = rest.RoundedOrNull(at.Speed/fleet.MetresPerMph, 1)
		to.Place.Course = rest.RoundedOrNull(at.Course, 0)
	}
	if !slices.Contains(link.Show, "trail") {
		return nil
	}
	way := query.TrackFilter{Account: account, Vehicle: vehicle,
		From: max(since, at.FixTime-fleet.Millis(behind.Milliseconds())),
		To:   at.FixTime + 1, Without: fleet.DoubtfulFlags, Every: behind / most}
	for p, err := range query.Track(ctx, a.DB, way) {
		if err != nil {
			return err
		}
		to.Trail = append(to.Trail, [2]float64{p.Lng, p.Lat})
	}
	return nil
}
