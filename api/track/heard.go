package track

import (
	"context"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// HeardState is when something was last heard of a device or vehicle, and whether that is recent enough.
type HeardState struct {
	Online      bool           `json:"online" doc:"Something was heard of it within the time that it may be silent: online_within_s of the device or the account, or else three times the interval in which it reports."`
	LastHeardAt record.Instant `json:"last_heard_at" doc:"When anything last came: positions, measurements, repeated and refused reports too. Up to a minute behind; null if nothing ever came."`
}

func heardState(h query.Heard) HeardState {
	return HeardState{Online: h.Online, LastHeardAt: record.InstantOf(h.At.Time())}
}

// hearDevices fills in what was heard of devices, which are one account's.
func (a *API) hearDevices(ctx context.Context, account fleet.AccountID, devices []Device) error {
	if len(devices) == 0 {
		return nil
	}
	ids := make([]uint64, len(devices))
	for i := range devices {
		var err error
		if ids[i], err = fleet.ParseID(fleet.DevicePrefix, devices[i].ID); err != nil {
			return err
		}
	}
	heard, err := query.DevicesHeard(ctx, a.DB, account, ids, a.Now())
	if err != nil {
		return err
	}
	for i := range devices {
		h := heard[ids[i]]
		devices[i].HeardState = heardState(h)
		if h.Interval > 0 {
			every := int64(h.Interval / time.Second)
			devices[i].ReportIntervalS = &every
		}
	}
	return nil
}
