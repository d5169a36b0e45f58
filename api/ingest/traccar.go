package ingest

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// TraccarPosition is a position as a Traccar server forwards it. What is read of it, and in which units, stands in
// schemas/topics.
type TraccarPosition struct {
	Position map[string]any `json:"position" doc:"As Traccar has it: fixTime, latitude, longitude, speed in knots, attributes, …"`
	Device   TraccarDevice  `json:"device"`
}

// TraccarDevice names the device of a TraccarPosition. Its other members are ignored.
type TraccarDevice struct {
	UniqueID string `json:"uniqueId" doc:"As the device is registered here." example:"352093081452251"`
}

func (a *API) traccarRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: "/v1/positions/traccar", ID: "createTraccarPosition", Tag: "Ingest",
		Scope: auth.TelematicsWrite, Class: auth.Ingest,
		Summary: "Take positions from a Traccar server",
		About: "What Traccar posts with `forward.type` `json`: one object, or an array. Devices are known by their unique id and must be registered here. " +
			"An accepted item is acknowledged by Kafka; what it says is judged later, see `/v1/dead_letters`.",
		Body: a.batchSchema(TraccarPosition{}, "TraccarPosition"), BodyLimit: a.Config.IngestLimit,
		Status: http.StatusAccepted, Reply: IngestReply{},
	}, a.takeTraccar)
}

// takeTraccar reads the items as the pipeline reads Traccar's form.
func (a *API) takeTraccar(w http.ResponseWriter, r *http.Request) error {
	if a.Reader == nil {
		return errNoIntake
	}
	return a.ingest(w, r, PositionsTopic, a.readTraccar)
}

func (a *API) readTraccar(raw json.RawMessage, it *item) *fleet.FieldError {
	if raw[0] != '{' {
		return &fleet.FieldError{Pointer: "", Code: "type", Detail: "must be an object"}
	}
	reports, err := a.Reader.ReadRecord("traccar", raw)
	if err != nil || len(reports) != 1 {
		return &fleet.FieldError{Pointer: "", Code: "invalid",
			Detail: "cannot be read: it is nested too deep, or names two devices"}
	}
	it.report = reports[0]
	switch p := &it.report; {
	case p.UniqueID == "":
		return &fleet.FieldError{Pointer: "/device/uniqueId", Code: "required", Detail: "must be given, as text"}
	case p.FixTime == 0 && p.DeviceTime == 0 && math.IsNaN(p.Lat):
		return &fleet.FieldError{Pointer: "/position", Code: "required",
			Detail: "must be given; Traccar's own events need not be forwarded"}
	}
	it.answer = traccarResult(raw)
	return it.name("", it.report.UniqueID)
}

// maxResult is how much is kept of what a tracker answers, in bytes.
const maxResult = 1000

// traccarResult is what a tracker answered to a command, which Traccar puts beside its position; "" for most positions.
func traccarResult(raw json.RawMessage) string {
	if !bytes.Contains(raw, []byte(`"result"`)) {
		return ""
	}
	var object struct {
		Position struct {
			Attributes struct {
				Result any `json:"result"`
			} `json:"attributes"`
		} `json:"position"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return "" // it was read already: another member is not of this form
	}
	text, _ := object.Position.Attributes.Result.(string)
	return strings.ToValidUTF8(text[:min(len(text), maxResult)], "")
}
