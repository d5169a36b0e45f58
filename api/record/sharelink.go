package record

import "github.com/motorpool/fleet"

// ShareLinkFields are what callers write of a share link.
type ShareLinkFields struct {
	VehicleID string   `json:"vehicle_id,omitempty" doc:"Whose place is shown; either this or booking_id." example:"veh_1234"`
	BookingID string   `json:"booking_id,omitempty" doc:"The vehicle of this booking is shown, as long as the booking is active." example:"bkg_1234"`
	ExpiresAt Instant  `json:"expires_at" doc:"Up to when it is good; at most 90 days ahead." example:"2026-03-01T18:00:00Z"`
	Show      []string `json:"show,omitempty" nullable:"false" maxItems:"5" enum:"plate,name,speed,address,trail" doc:"What is shown beside the place and its time: license plate; make, model and name; speed and direction; words for the place; the way of the last half hour. Nothing else ever is."`
	Note      string   `json:"note,omitempty" maxLength:"200" doc:"For yourselves, such as whom it is for. It is not shown." example:"For Ms Muster"`
}

// ShareLink is a share link as it is stored. The secret is not part of it. Archived it is revoked.
type ShareLink struct {
	ShareLinkFields
	Asker               // on whose behalf it shows anything: who made it
	SecretSHA256 string `json:"secret_sha256"`
}

// ShareLinks describes the kind.
var ShareLinks = Kind[ShareLink]{Name: "share_link", Prefix: fleet.ShareLinkPrefix,
	Hidden: []string{"secret_sha256"}}
