package trip

import "github.com/motorpool/fleet"

// Wake returns the earliest event time at which Advance would do something if nothing came before; 0 for never.
func (c *Config) Wake(s *State) fleet.Millis {
	at, _ := c.deadline(s)
	return at
}

type deadline uint8

const (
	quiet      deadline = iota // nothing was heard for longer than a silence
	offUnseen                  // no fix came after the ignition went off
	silence                    // no fix came for Split
	chargeDone                 // nothing shows that the charge goes on
)

func (c *Config) deadline(s *State) (at fleet.Millis, which deadline) {
	sooner := func(t fleet.Millis, w deadline) {
		if at == 0 || t < at {
			at, which = t, w
		}
	}
	if !s.Silent && s.Heard != 0 && (s.Phase == OnTrip || s.EngineFrom != 0) {
		sooner(s.Heard+c.silence(s)+1, quiet)
	}
	if s.Phase == OnTrip && s.OffAt != 0 {
		sooner(s.OffAt+c.OffWait, offUnseen)
	}
	if s.Drive.On {
		sooner(s.Last.At+c.Split, silence)
	}
	if s.Plug.Open {
		until := s.Plug.Evidence + c.Split
		if s.Plug.Estimated {
			until = s.Plug.Evidence + min(c.ChargeQuiet, c.Split)
		}
		sooner(until, chargeDone)
	}
	return at, which
}

// Advance says that the event time has come to an instant without any input. Whatever is due until then, that instant
// included, happens at its own time.
func (c *Config) Advance(s *State, key fleet.VehicleKey, to fleet.Millis, out *fleet.Entities) {
	for {
		at, which := c.deadline(s)
		if at == 0 || at > to {
			return
		}
		switch which {
		case quiet:
			s.Silent = true
		case offUnseen:
			c.park(s, key, s.OffAt, at, nil, out)
		case silence:
			c.cut(s, key, at, reasonGap, out)
		case chargeDone:
			s.unplug(key, s.Plug.Evidence, out)
		}
	}
}
