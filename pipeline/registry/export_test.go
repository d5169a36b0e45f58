package registry

import "time"

// Missed has what others read look as if everything had been read longer ago than is looked for what was missed.
func Missed(devices *Devices, policies *Policies) {
	for _, f := range []*Refresher{&devices.Refresher, &policies.Refresher} {
		f.turn.Lock()
		f.full = time.Now().Add(-missedEvery - time.Second)
		f.turn.Unlock()
	}
}
