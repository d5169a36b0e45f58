package record

import (
	"maps"
	"slices"

	"github.com/motorpool/fleet"
)

// DeviceCommandFields are what callers write of a command to a tracker.
type DeviceCommandFields struct {
	Type      string  `json:"type" enum:"engine_stop,engine_resume,position_single,position_periodic,position_stop,alarm_arm,alarm_disarm,output_control,reboot_device,custom" doc:"What the tracker is to do."`
	IntervalS *int    `json:"interval_s,omitempty" minimum:"1" maximum:"86400" doc:"Of position_periodic: seconds between positions."`
	Output    *int    `json:"output,omitempty" minimum:"0" maximum:"255" doc:"Of output_control: which output; data says what it is set to."`
	Data      string  `json:"data,omitempty" maxLength:"1000" doc:"Of custom: what is sent, as the tracker's protocol has it. Of output_control: the value."`
	Transport string  `json:"transport,omitempty" enum:"traccar,pull" doc:"traccar: by the operator's Traccar server, if the operator has said that the tracker is the account's. pull: a gateway of your own asks for queued ones and reports. traccar unless given, where there is one."`
	ExpiresAt Instant `json:"expires_at,omitzero" doc:"What has not gone out by then never will; an hour from now unless given, at most 7 days."`
	Force     bool    `json:"force,omitempty" doc:"engine_stop also while the vehicle moves, or nobody knows whether it does."`
	Confirm   bool    `json:"confirm,omitempty" doc:"Must be true for engine_stop, output_control and custom: they may do harm."`
}

// DeviceCommand is a command to a tracker as it is stored.
type DeviceCommand struct {
	DeviceCommandFields
	DeviceID    string              `json:"device_id"`
	VehicleID   string              `json:"vehicle_id,omitempty"` // that the tracker was on
	RequestedBy string              `json:"requested_by"`
	Status      string              `json:"status"`
	StatusSince Instant             `json:"status_since"`
	Attempts    int                 `json:"attempts"`
	TryAt       Instant             `json:"try_at,omitzero"` // not before
	Result      string              `json:"result,omitempty"`
	Log         []DeviceCommandStep `json:"log"`
}

// DeviceCommandStep is a state that a command reached.
type DeviceCommandStep struct {
	Status string  `json:"status" example:"sent"`
	At     Instant `json:"at"`
	By     string  `json:"by" doc:"Who asked or reported: a key, or system." example:"key_1234"`
	Detail string  `json:"detail,omitempty" doc:"Why, or what the tracker answered."`
}

// States of commands.
const (
	CommandQueued       = "queued"
	CommandSending      = "sending"
	CommandSent         = "sent"
	CommandDelivered    = "delivered"
	CommandAcknowledged = "acknowledged"
	CommandFailed       = "failed"
	CommandExpired      = "expired"
	CommandCancelled    = "cancelled"
	CommandUnknown      = "unknown"
)

// commandMoves are the transitions of commands. What has left may be heard of in any later state, also if nobody knew whether it had.
//
//	queued ──► sending ──► sent ──► delivered ──► acknowledged
//	 │  ▲         │ │        └────────────────────► failed
//	 │  └─────────┘ └──► unknown ──► (any that sent has)
//	 └──► expired, cancelled, failed
var commandMoves = map[string][]string{
	CommandQueued:       {CommandSending, CommandSent, CommandFailed, CommandExpired, CommandCancelled},
	CommandSending:      {CommandQueued, CommandSent, CommandFailed, CommandUnknown},
	CommandSent:         {CommandDelivered, CommandAcknowledged, CommandFailed, CommandUnknown},
	CommandUnknown:      {CommandSent, CommandDelivered, CommandAcknowledged, CommandFailed},
	CommandDelivered:    {CommandAcknowledged, CommandFailed},
	CommandAcknowledged: {},
	CommandFailed:       {},
	CommandExpired:      {},
	CommandCancelled:    {},
}

// CommandStates lists every state.
var CommandStates = slices.Sorted(maps.Keys(commandMoves))

// DeviceCommands describes the kind.
var DeviceCommands = Kind[DeviceCommand]{Name: "device_command", Prefix: fleet.CommandPrefix}

// maxCommandLog bounds the log of one command; what was tried in vain the longest ago goes first, and history keeps it.
const maxCommandLog = 50

// MoveCommand says that a command has reached a state, and who says so. A result stays.
func MoveCommand(r *Record[DeviceCommand], step DeviceCommandStep) error {
	b := &r.Body
	if err := moved(commandMoves, "command "+fleet.FormatID(fleet.CommandPrefix, r.ID), b.Status, step.Status); err != nil {
		return err
	}
	b.Status, b.StatusSince = step.Status, step.At
	b.Log = append(slices.Clone(b.Log), step)
	if len(b.Log) > maxCommandLog {
		b.Log = slices.Delete(b.Log, 1, 2)
	}
	return nil
}
