package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// checkUniqueID refuses what the pipeline would not take for a unique id.
func checkUniqueID(uniqueID string) error {
	if uniqueID == "" || len(uniqueID) > 128 || strings.TrimSpace(uniqueID) != uniqueID ||
		!utf8.ValidString(uniqueID) || strings.ContainsFunc(uniqueID, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return fmt.Errorf("%q is no unique id: it must have 1 to 128 bytes, be printable, and have no blanks at its ends",
			uniqueID)
	}
	return nil
}

// own gives unique ids to an account in the operator's name: with what was kept apart of them. It refuses those that
// were given to another account before, or that a device of another account has.
func (r *records) own(ctx context.Context, account fleet.AccountID, uniqueIDs ...string) error {
	for _, uniqueID := range uniqueIDs {
		if err := checkUniqueID(uniqueID); err != nil {
			return err
		}
	}
	var fresh []string
	for some := range slices.Chunk(uniqueIDs, ownTogether) {
		holders, err := query.Holders(ctx, r.db, some...)
		if err != nil {
			return err
		}
		for _, h := range holders {
			if h.Account != account {
				return fmt.Errorf("%s has registered %q; 'motorpool device move' gives it to another account",
					h.Account, h.UniqueID)
			}
		}
		owners, err := query.Owners(ctx, r.db, some...)
		if err != nil {
			return err
		}
		for _, uniqueID := range some {
			switch owner, owned := owners[uniqueID]; {
			case !owned:
				fresh = append(fresh, uniqueID)
			case owner.Account != account:
				return fmt.Errorf("%q was given to %s; 'motorpool device move' gives it to another account, with --kept together with what it sent so far",
					uniqueID, owner.Account)
			}
		}
	}
	for some := range slices.Chunk(fresh, ownTogether) {
		if err := r.store.Own(ctx, account, true, some...); err != nil {
			return err
		}
	}
	return nil
}

// ownTogether is how many unique ids are given at once.
const ownTogether = 1000

type deviceExpect struct {
	File    string `arg:"" help:"The trackers' unique ids, one a line; - is standard input."`
	Account string `help:"Account." required:"" placeholder:"NAME"`
}

// Help says what the command is for.
func (*deviceExpect) Help() string {
	return `Says that trackers are an account's, before the account registers them itself over the interface. Until then nobody else can
register them, and what they send is kept apart for a week: the account gets it with the registration. Without this, an account that
registers a tracker over the interface gets what the tracker sends from then on. It may be repeated. A list with a tracker
that was given to another account is refused as a whole: 'motorpool device move' says that it changes hands.

  motorpool device expect --account Acme trackers.txt`
}

// Run reads the list and gives what is on it to the account.
func (c *deviceExpect) Run(ctx context.Context, s settings, o output) error {
	uniqueIDs, err := readLines(c.File)
	if err != nil {
		return err
	}
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.Account, false)
		if err != nil {
			return err
		}
		if err := r.own(ctx, account, uniqueIDs...); err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.err, "%d trackers are expected\n", len(uniqueIDs))
		return err
	})
}

// readLines returns the lines of a file that are not empty, without the blanks around them, each once and in order.
func readLines(name string) ([]string, error) {
	var in io.Reader = os.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	var lines []string
	scanner := bufio.NewScanner(in)
	for scanner.Scan() {
		if line := strings.TrimSpace(scanner.Text()); line != "" {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines), scanner.Err()
}

type deviceMove struct {
	UniqueID string `arg:"" help:"What the tracker calls itself."`
	To       string `help:"Account that it is given to." required:"" placeholder:"NAME"`
	Reason   string `help:"Why, for the people of the account that it is taken from."`
	Kept     bool   `help:"With what was kept apart of it up to now, which is right if it was this account's all along."`
	Name     string `help:"A name for people."`
	Vehicle  string `help:"Vehicle that it is on, from now on; with --kept, since ever." placeholder:"veh_ID"`
	JSON     bool   `name:"json" help:"Print one JSON object."`
}

// Help says what becomes of the device that there was.
func (*deviceMove) Help() string {
	return `Gives a tracker to another account. The device that the other account has of it is taken off its vehicle and archived, with the reason
as archive_reason; what the tracker sent so far stays there. A new device is made in the account that it is given to, which gets what comes
from then on: running processes know within seconds. What had come by then, but was not worked through, is kept apart and given to nobody,
so move it while the pipeline has no backlog. Killed in between, run it again: it finishes.

  motorpool device move 352093081452251 --to Acme --reason "registered by mistake"`
}

// Run moves the device, and does nothing that has been done.
func (c *deviceMove) Run(ctx context.Context, s settings, o output) error {
	if err := checkUniqueID(c.UniqueID); err != nil {
		return err
	}
	return withRecords(ctx, s, func(r *records) error {
		account, err := r.account(ctx, c.To, false)
		if err != nil {
			return err
		}
		body := record.Device{DeviceFields: record.DeviceFields{UniqueID: c.UniqueID, Name: c.Name}}
		if c.Vehicle != "" {
			vehicle, err := r.vehicle(ctx, account, c.Vehicle)
			if err != nil {
				return err
			}
			from := time.Now()
			if c.Kept {
				from = time.Time{}
			}
			if err := body.Assign(vehicle, from); err != nil {
				return err
			}
		}
		id, made, err := r.moveDevice(ctx, account, body, c.Kept, cmp.Or(c.Reason, "given to another account"))
		if err != nil {
			return err
		}
		return printDevice(o, c.JSON, id, &made)
	})
}

// moveDevice gives the unique id of a device to be to an account, ends the devices that others have of it, and makes
// the new one unless the account has one. The first step decides: from then on nobody else gets anything. It may be
// repeated after each.
func (r *records) moveDevice(ctx context.Context, account fleet.AccountID, body record.Device, kept bool,
	reason string) (fleet.DeviceID, record.Device, error) {
	holders, err := query.Holders(ctx, r.db, body.UniqueID)
	if err != nil {
		return 0, body, err
	}
	owners, err := query.Owners(ctx, r.db, body.UniqueID)
	if err != nil {
		return 0, body, err
	}
	owner, owned := owners[body.UniqueID]
	if len(holders) == 0 && !owned {
		return 0, body, errors.New("nobody has this tracker; 'motorpool device create' registers it")
	}
	if owner.Account != account || kept && !owner.Kept {
		if err := r.store.Own(ctx, account, kept, body.UniqueID); err != nil {
			return 0, body, err
		}
	}
	for _, h := range holders {
		if h.Account == account {
			there, err := r.devices.Get(ctx, account, uint64(h.ID))
			return h.ID, there.Body, err
		}
		if _, err := r.devices.Archive(ctx, commandLine, h.Account, uint64(h.ID), 0,
			func(d *record.Record[record.Device]) error {
				d.Body.Leave(time.Now(), reason)
				return nil
			}); err != nil {
			return 0, body, fmt.Errorf("archive %s of %s: %w", h.ID, h.Account, err)
		}
	}
	return r.createDevice(ctx, account, body)
}

// createDevice makes a device.
func (r *records) createDevice(ctx context.Context, account fleet.AccountID,
	body record.Device) (fleet.DeviceID, record.Device, error) {
	made, err := r.devices.New(ctx, commandLine, account, body)
	return fleet.DeviceID(made.ID), made.Body, err
}
