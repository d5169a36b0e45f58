package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
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
	a.handle(route{
		Method: http.MethodPost, Path: "/v1/positions/traccar", ID: "createTraccarPosition", Tag: "Ingest", Scope: auth.TelematicsWrite, Class: auth.Ingest,
		Summary: "Take positions from a Traccar server",
		About: "What Traccar posts with `forward.type` `json`: one object, or an array. Devices are known by their unique id and must be registered here. " +
			"An accepted item is acknowledged by Kafka; what it says is judged later, see `/v1/dead_letters`.",
		Body: a.batchSchema(TraccarPosition{}, "TraccarPosition"), BodyLimit: a.cfg.IngestLimit, Status: http.StatusAccepted, Reply: IngestReply{},
	}, a.takeTraccar)
}

// takeTraccar passes the items on as they are: the pipeline reads Traccar's form.
func (a *API) takeTraccar(w http.ResponseWriter, r *http.Request) error {
	if a.Republisher == nil {
		return fleet.NewError(fleet.CodeUnavailable, "This process takes no data in.")
	}
	raw, err := splitBatch(bodyOf(r))
	if err != nil {
		return err
	}
	if err := a.carry(w, auth.From(r.Context()).Account, len(raw), len(bodyOf(r))); err != nil {
		return err
	}
	items := make([]item, len(raw))
	for i := range raw {
		var message struct {
			Position map[string]json.RawMessage
			Device   TraccarDevice
		}
		switch err := json.Unmarshal(raw[i], &message); {
		case err != nil:
			items[i].refused = &fleet.FieldError{Pointer: "", Code: "type", Detail: "position and device must be objects, and uniqueId of device a text"}
		case message.Device.UniqueID == "":
			items[i].refused = &fleet.FieldError{Pointer: "/device/uniqueId", Code: "required", Detail: "must be given"}
		case message.Position == nil:
			items[i].refused = &fleet.FieldError{Pointer: "/position", Code: "required", Detail: "must be given; Traccar's own events need not be forwarded"}
		default:
			items[i].refused = items[i].name("", message.Device.UniqueID)
		}
	}
	if err := a.identify(r.Context(), auth.From(r.Context()).Account, items); err != nil {
		return err
	}
	return a.answerItems(w, r, items, func(good []int) error {
		bounded, cancel := context.WithTimeout(r.Context(), publishTime)
		defer cancel()
		for _, i := range good {
			err := a.Republisher.Republish(bounded, positionsTopic, contentTypes["traccar"], []byte(items[i].report.UniqueID), raw[i])
			if err != nil {
				return a.unpublished(r.Context(), err, positionsTopic, len(good))
			}
		}
		return nil
	})
}
