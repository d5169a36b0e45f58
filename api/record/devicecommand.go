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
	Force     bool    `json:"force,omitempty" doc:"engine_stop, output_control and custom also while the vehicle moves, or nobody knows whether it does."`
	Confirm   bool    `json:"confirm,omitempty" doc:"Must be true for engine_stop, output_control and custom: they may do harm."`
}

// DeviceCommand is a command to a tracker as it is stored.
type DeviceCommand struct {
	DeviceCommandFields
	DeviceID    string              `json:"device_id"`
	VehicleID   string              `json:"vehicle_id,omitempty"` // that the tracker was on
	UniqueID    string              `json:"unique_id,omitempty"`  // that the tracker had
	RequestedBy string              `json:"requested_by"`
	Status      string              `json:"status"`
	StatusSince Instant             `json:"status_since"`
	Attempts    int                 `json:"attempts"`
	TryAt       Instant             `json:"try_at,omitzero"`  // not before
	AwayAt      Instant             `json:"away_at,omitzero"` // when the tracker was seen to be away
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

// commandMoves are the transitions of commands. What has left may be heard of in any later state, also if nobody knew
// whether it had.
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
	if err := moved(commandMoves, "command "+fleet.FormatID(fleet.CommandPrefix, r.ID), b.Status,
		step.Status); err != nil {
		return err
	}
	b.Status, b.StatusSince = step.Status, step.At
	addToCommandLog(b, step)
	return nil
}

// NoteCommand says why a queued command waits. Its log tells of each reason once.
func NoteCommand(r *Record[DeviceCommand], step DeviceCommandStep) {
	b := &r.Body
	b.Result = step.Detail
	if !slices.ContainsFunc(b.Log, func(s DeviceCommandStep) bool {
		return s.Status == step.Status && s.Detail == step.Detail
	}) {
		addToCommandLog(b, step)
	}
}

// QueueCommandAgain says that a command is queued again that was being sent, and why. An attempt that fails as the last
// did takes its place in the log.
func QueueCommandAgain(r *Record[DeviceCommand], step DeviceCommandStep) error {
	if err := MoveCommand(r, step); err != nil {
		return err
	}
	b := &r.Body
	b.Result = step.Detail
	if n := len(b.Log); n > 3 && b.Log[n-3].Status == step.Status && b.Log[n-3].Detail == step.Detail {
		b.Log = slices.Delete(b.Log, n-3, n-1)
	}
	return nil
}

func addToCommandLog(b *DeviceCommand, step DeviceCommandStep) {
	b.Log = append(slices.Clone(b.Log), step)
	if len(b.Log) > maxCommandLog {
		b.Log = slices.Delete(b.Log, 1, 2)
	}
}
