package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

type deviceCommand struct {
	Create deviceCreate `cmd:"" help:"Register a tracker, with what was kept apart of it, and put it on a vehicle."`
	Expect deviceExpect `cmd:"" help:"Say that trackers are an account's, which then registers them over the interface."`
	Move   deviceMove   `cmd:"" help:"Give a tracker to another account."`
	List   deviceList   `cmd:"" help:"List the trackers of an account."`
	Assign deviceAssign `cmd:"" help:"Put a tracker on a vehicle, from now or another time on."`
}

type deviceCreate struct {
	UniqueID string `arg:"" help:"What the tracker calls itself: an IMEI or the like; unique over all accounts."`
	Account  string `help:"Account." required:"" placeholder:"NAME"`
	Name     string `help:"A name for people."`
	Protocol string `help:"Protocol that it speaks, such as osmand."`
	Vehicle  string `help:"Vehicle that it is on, since ever." placeholder:"veh_ID"`
	JSON     bool   `name:"json" help:"Print one JSON object."`
}

func (c *deviceCreate) Run(ctx context.Context, s settings, o output) error {
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, false)
		if err != nil {
			return err
		}
		body := record.Device{DeviceFields: record.DeviceFields{UniqueID: c.UniqueID, Name: c.Name, Protocol: c.Protocol}}
		if c.Vehicle != "" {
			vehicle, err := r.vehicle(ctx, account, c.Vehicle)
			if err != nil {
				return err
			}
			if err := body.Assign(vehicle, time.Time{}); err != nil {
				return err
			}
		}
		if err := r.own(ctx, account, c.UniqueID); err != nil {
			return err
		}
		id, made, err := r.createDevice(ctx, account, body)
		if err != nil {
			return err
		}
		return printDevice(o, c.JSON, id, &made)
	})
}

func printDevice(o output, asJSON bool, id fleet.DeviceID, body *record.Device) error {
	if asJSON {
		return json.NewEncoder(o.out).Encode(map[string]any{
			"id": id.String(), "unique_id": body.UniqueID, "name": body.Name, "assignments": body.Assignments,
		})
	}
	_, err := fmt.Fprintln(o.out, id)
	return err
}

// vehicle reads the id of a vehicle that is in use in the account.
func (r *records) vehicle(ctx context.Context, account fleet.AccountID, text string) (fleet.VehicleID, error) {
	id, err := fleet.ParseID(fleet.VehiclePrefix, text)
	if err != nil {
		return 0, err
	}
	found, err := r.vehicles.Get(ctx, account, id)
	if err != nil {
		return 0, err
	}
	if found.Archived() {
		return 0, fmt.Errorf("%s is archived", text)
	}
	return fleet.VehicleID(id), nil
}

type deviceList struct {
	Account string `help:"Account." required:"" placeholder:"NAME"`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (c *deviceList) Run(ctx context.Context, s settings, o output) error {
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, false)
		if err != nil {
			return err
		}
		all, err := listAll[record.Device](ctx, r, &query.Devices, account)
		if err != nil {
			return err
		}
		type line struct {
			ID        string `json:"id"`
			UniqueID  string `json:"unique_id"`
			Name      string `json:"name"`
			Protocol  string `json:"protocol"`
			VehicleID string `json:"vehicle_id"`
		}
		lines := make([]line, 0, len(all))
		for _, d := range all {
			lines = append(lines,
				line{fleet.DeviceID(d.ID).String(), d.body.UniqueID, d.body.Name, d.body.Protocol, d.body.VehicleNow(time.Now())})
		}
		return show(o, c.JSON, lines, "ID\tUNIQUE ID\tNAME\tPROTOCOL\tVEHICLE", func(l line) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", l.ID, l.UniqueID, l.Name, l.Protocol, l.VehicleID)
		})
	})
}

type deviceAssign struct {
	Device  string    `arg:"" help:"The tracker's id." placeholder:"dev_ID"`
	Vehicle string    `arg:"" help:"The vehicle's id." placeholder:"veh_ID"`
	Account string    `help:"Account." required:"" placeholder:"NAME"`
	From    time.Time `help:"When it was put there (RFC 3339); now by default."`
	JSON    bool      `name:"json" help:"Print one JSON object."`
}

func (c *deviceAssign) Run(ctx context.Context, s settings, o output) error {
	id, err := fleet.ParseID(fleet.DevicePrefix, c.Device)
	if err != nil {
		return err
	}
	from := c.From
	if from.IsZero() {
		from = time.Now()
	}
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, false)
		if err != nil {
			return err
		}
		vehicle, err := r.vehicle(ctx, account, c.Vehicle)
		if err != nil {
			return err
		}
		made, err := r.devices.Update(ctx, commandLine, account, id, 0, func(d *record.Record[record.Device]) error {
			return d.Body.Assign(vehicle, from)
		})
		if err != nil {
			return err
		}
		return printDevice(o, c.JSON, fleet.DeviceID(id), &made.Body)
	})
}
