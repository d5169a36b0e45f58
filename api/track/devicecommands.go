package track

import (
	"context"
	"net/http"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// DeviceCommand is a command to a tracker as it is answered.
type DeviceCommand struct {
	ID string `json:"id" doc:"Identity." example:"cmd_1234"`

	record.DeviceCommandFields

	Object      string                     `json:"object" doc:"Always device_command." example:"device_command"`
	DeviceID    string                     `json:"device_id" example:"dev_1234"`
	VehicleID   *string                    `json:"vehicle_id" doc:"The vehicle that the tracker was on."`
	RequestedBy string                     `json:"requested_by" doc:"Who asked for it." example:"key_1234"`
	Status      string                     `json:"status" doc:"queued; sending; sent: it went out; delivered, acknowledged: the tracker has it, has answered; failed; expired; cancelled; unknown: it may have gone out, and is not tried again."`
	StatusSince record.Instant             `json:"status_since"`
	Attempts    int                        `json:"attempts" doc:"How often Traccar was asked to send it."`
	Result      string                     `json:"result,omitempty" doc:"What the tracker answered, or why it waits or failed."`
	Log         []record.DeviceCommandStep `json:"log" nullable:"false" doc:"The states that it reached, the last 50; its history has every change."`

	rest.Stamps
}

// DeviceCommandReport is what a gateway tells of a command.
type DeviceCommandReport struct {
	Status string `json:"status" enum:"sent,delivered,acknowledged,failed" doc:"sent takes a queued command: of several gateways that do so, one is answered with 200."`
	Result string `json:"result,omitempty" maxLength:"1000" doc:"What the tracker answered, or why it failed."`
}

func (a *API) deviceCommandRoutes() {
	const path, one = "/v1/devices/{id}/commands", "/v1/devices/{id}/commands/{command}"
	s := &rest.Resource[record.DeviceCommand]{
		Server: a.Server, Log: a.desk.Sender.Commands, Listing: &query.DeviceCommands,
		Titles: rest.Titles{Path: path, Tag: "Devices", Noun: "device command", Nouns: "device commands"},
		Scope:  rest.Scopes{Read: auth.TelematicsRead, Write: auth.DevicesCommand},
		Views: rest.Views{
			View: DeviceCommand{}, Fields: record.DeviceCommandFields{}, Create: record.DeviceCommandFields{},
			States: record.CommandStates,
		},
		Show:   showDeviceCommands,
		Choose: a.withinDevice,
	}
	a.Handle(rest.Route{
		Method: "GET", Path: path, ID: "listDeviceCommands", Tag: s.Tag, Scope: s.Scope.Read,
		Summary: "List the commands to a tracker",
		About:   "A gateway of your own asks for those with `transport=pull&status=queued`, and reports what becomes of each.",
		Params:  slices.Concat(rest.PageParams, rest.Without(s.ListParams(), "device_id"), rest.FieldsParams),
		Reply:   a.ListSchema(DeviceCommand{}),
	}, s.List)
	a.Handle(rest.Route{
		Method: "POST", Path: path, ID: "createDeviceCommand", Tag: s.Tag, Scope: s.Scope.Write, Summary: "Command a tracker",
		About: "The command is stored before anybody tries to send it, and goes out at most once: where nobody can know whether it did, its status is `unknown`. " +
			"`engine_stop`, `output_control` and `custom`, which may stop an engine, are refused (409) while the vehicle moves or nobody knows whether it does, which takes a position of the last 3 minutes, " +
			"and are judged again when they go out; `force` does it all the same. A command fails whose device was archived, renamed or put on another vehicle meanwhile. At most 20 wait for a device (409). " +
			"It takes Traccar 6.7 or later, which knows `noQueue`: what an older one keeps for later is told as `unknown` of these three, and as `sent` of others. `data` is shown to keys with `devices:command` only.",
		Body: record.DeviceCommandFields{}, Status: 201, Reply: DeviceCommand{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		device, err := a.deviceInPath(r)
		if err != nil {
			return err
		}
		var fields record.DeviceCommandFields
		if err := a.DecodeBody(r, &fields); err != nil {
			return err
		}
		rec, err := a.desk.Sender.Queue(r.Context(), rest.Author(r), auth.From(r.Context()).Account, a.NewID(r),
			device, fields)
		if err != nil {
			return err
		}
		return s.Answer(w, r, http.StatusCreated, rec)
	})
	a.Handle(rest.Route{
		Method: "GET", Path: one, ID: "getDeviceCommand", Tag: s.Tag, Scope: s.Scope.Read,
		Summary: "Get a command to a tracker", Reply: DeviceCommand{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		may, err := a.ofDevice(r)
		if err != nil {
			return err
		}
		id, err := rest.NamedID(r, "command", s.Noun, fleet.CommandPrefix)
		if err != nil {
			return err
		}
		rec, err := a.desk.Sender.Commands.Get(r.Context(), auth.From(r.Context()).Account, id)
		if err == nil {
			err = may(&rec)
		}
		if err != nil {
			return err
		}
		return s.Answer(w, r, http.StatusOK, rec)
	})
	type rec = record.Record[record.DeviceCommand]
	type asked = rest.Call[record.DeviceCommand]
	rest.Act(s, rest.Action[record.DeviceCommand, rest.NoBody]{
		Path: one, CheckOwner: a.ofDevice, Verb: "cancel", Summary: "Take a command to a tracker back",
		About: "Only while it is queued; cancelling it again changes nothing.",
		Do: func(c *asked, _ rest.NoBody) (rec, error) {
			return a.desk.Sender.Cancel(c.Context(), c.By, c.Account, c.ID, c.CheckRecord)
		},
	})
	rest.Act(s, rest.Action[record.DeviceCommand, DeviceCommandReport]{
		Path: one, CheckOwner: a.ofDevice, Verb: "report", Summary: "Tell what became of a command to a tracker",
		About: "For gateways. What was told already changes nothing, but for `sent`, which is a 409 then. A command " +
			"that may stop an engine is not given out (409) while the vehicle moves or nobody knows whether it does: " +
			"it stays queued, and its log tells each reason once. Of commands that go by Traccar nothing can be told " +
			"before they are sent (409).",
		Do: func(c *asked, sent DeviceCommandReport) (rec, error) {
			return a.desk.Sender.Report(c.Context(), c.By, c.Account, c.ID,
				record.DeviceCommandStep{Status: sent.Status, Detail: sent.Result}, c.CheckRecord)
		},
	})
}

// deviceInPath is the device that the path names, which must exist.
func (a *API) deviceInPath(r *http.Request) (uint64, error) {
	id, err := rest.PathID(r, "device", fleet.DevicePrefix)
	if err != nil {
		return 0, err
	}
	_, err = a.devices.Get(r.Context(), auth.From(r.Context()).Account, id)
	return id, err
}

// withinDevice narrows a list to the device that the path names.
func (a *API) withinDevice(r *http.Request, req *query.ListRequest) error {
	id, err := a.deviceInPath(r)
	req.Filters = append(req.Filters,
		query.Filter{Field: "device_id", Op: "eq", Values: []string{fleet.FormatID(fleet.DevicePrefix, id)}})
	return err
}

// ofDevice gives what refuses commands to another device than the one that the path names.
func (a *API) ofDevice(r *http.Request) (func(*record.Record[record.DeviceCommand]) error, error) {
	device, err := a.deviceInPath(r)
	return func(rec *record.Record[record.DeviceCommand]) error {
		if rec.Body.DeviceID != fleet.FormatID(fleet.DevicePrefix, device) {
			return rest.NotFound("device command", fleet.FormatID(fleet.CommandPrefix, rec.ID))
		}
		return nil
	}, err
}

func showDeviceCommands(ctx context.Context, records []record.Record[record.DeviceCommand],
	_ []string) ([]rest.Shown, error) {
	views, commands := make([]rest.Shown, len(records)), auth.From(ctx).Has(auth.DevicesCommand)
	for i, rec := range records {
		b := &rec.Body
		if !commands { // trackers take their password in it
			b.Data = ""
		}
		views[i].View = DeviceCommand{ID: fleet.FormatID(fleet.CommandPrefix, rec.ID),
			DeviceCommandFields: b.DeviceCommandFields, Object: "device_command",
			DeviceID: b.DeviceID, VehicleID: rest.TextOrNull(b.VehicleID), RequestedBy: b.RequestedBy, Status: b.Status,
			StatusSince: b.StatusSince,
			Attempts:    b.Attempts, Result: b.Result, Log: b.Log, Stamps: rest.StampsOf(rec)}
	}
	return views, nil
}
