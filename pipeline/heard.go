package pipeline

import (
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/fix"
)

// hearing is when a device was last written down as heard of.
type hearing struct {
	minute  fleet.Millis
	vehicle fleet.VehicleID
}

// hear writes down that a report came from a known device, whatever becomes of it: once in a minute of receipt
// and for each vehicle that the device is on then. A batch that is formed again writes the same, or what an
// earlier batch wrote.
func (c *Chain) hear(b *consume.Batch, i int) {
	w := &c.works[i]
	received := fix.Received(b.Records[c.origins[i].record].Time)
	if w.device == nil || received == 0 {
		return
	}
	const minute = fleet.Millis(time.Minute / time.Millisecond)
	now := hearing{minute: received / minute, vehicle: w.device.VehicleAt(received)}
	if last, ok := c.heard[w.device.ID]; ok && last == now {
		return
	}
	c.heard[w.device.ID] = now
	c.rows.Heard(w.device.Account, w.device.ID, now.vehicle, received)
}
