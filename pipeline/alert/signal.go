package alert

import (
	"cmp"
	"slices"

	"github.com/motorpool/fleet"
)

// Reading is the value of its signal that a rule goes by: the newest, or of a rule for changes the one told last.
type Reading struct {
	Rule   fleet.RuleID
	Signal fleet.Signal // The signal of the value, as another version of the rule may watch another.
	Value  float64
}

// Wants says whether a rule watches a signal at a time which no other detector needs.
func (e *Engine) Wants(s fleet.Signal, at fleet.Millis) bool {
	for _, r := range e.signals[s] {
		if r.current(at) {
			return true
		}
	}
	return false
}

// AddSignals adds to a set the signals that the rules watch at whatever time.
func (e *Engine) AddSignals(set *fleet.SignalSet) {
	for s, rules := range e.signals {
		set[s] = set[s] || len(rules) > 0
	}
}

// compileTest takes over what a rule asks of a signal; lower or higher values are worse, and it is told again when it
// has become worse by some steps of what readings waver.
func (r *rule) compileTest() {
	if r.Signal == nil || int(r.Signal.Signal) >= len(fleet.Signals) {
		r.Signal = nil // it watches for nothing
		return
	}
	r.threshold, r.subject = r.Signal.Bound(), r.Signal.Signal.String()
	r.lasting, r.step = r.Signal.Is != fleet.SignalChanged, 5*r.Signal.Hysteresis
}

// measured lets the rules over a signal judge its value.
func (c *call) measured(v *fleet.SignalValue, inside []fleet.FenceID) {
	for _, r := range c.e.signals[v.Signal] {
		if r.Kind != fleet.AlertSignal || !c.applies(r) {
			continue
		}
		at, known := c.s.readingOf(r.ID)
		if known && c.s.Readings[at].Signal != v.Signal {
			c.s.Readings, known = slices.Delete(c.s.Readings, at, at+1), false
		}
		changed := known && r.Signal.Changed(c.s.Readings[at].Value, v.Value)
		switch {
		case !known:
			c.forget()
			at, _ = c.s.readingOf(r.ID)
			c.s.Readings = slices.Insert(c.s.Readings, at, Reading{r.ID, v.Signal, v.Value})
		case changed || r.lasting:
			c.s.Readings[at].Value = v.Value
		}
		switch {
		case r.lasting:
			c.compare(r, v.Value, inside)
		case changed:
			if fence, here := r.within(inside); here {
				c.moment(r, fence, r.subject, c.at, c.place(), v.Value, 0)
			}
		}
	}
}

// compare judges a value by a rule, if the vehicle is where the rule watches.
func (c *call) compare(r *rule, v float64, inside []fleet.FenceID) {
	fence, here := r.within(inside)
	if len(r.Fences) > 0 {
		c.elsewhere(r, fence, here)
	}
	if holds, over := r.Signal.Judge(v); here {
		c.judge(r, fence, c.at, v, holds, over)
	}
}

// moved lets rules over signals that watch inside of geofences judge the newest value again when the vehicle has
// entered or left one.
func (c *call) moved(inside []fleet.FenceID) {
	for _, r := range c.e.fenced {
		if !r.current(c.at) {
			continue
		}
		if i, known := c.s.readingOf(r.ID); known && c.s.Readings[i].Signal == r.Signal.Signal {
			c.compare(r, c.s.Readings[i].Value, inside)
		}
	}
}

// within returns the first of the rule's geofences that the vehicle is inside of, and whether the rule watches here.
func (r *rule) within(inside []fleet.FenceID) (fence fleet.FenceID, here bool) {
	for _, f := range r.Fences {
		if slices.Contains(inside, f) {
			return f, true
		}
	}
	return 0, len(r.Fences) == 0
}

// readingOf returns where a rule's reading is or belongs.
func (s *State) readingOf(rule fleet.RuleID) (int, bool) {
	return slices.BinarySearchFunc(s.Readings, rule,
		func(x Reading, rule fleet.RuleID) int { return cmp.Compare(x.Rule, rule) })
}

// forget drops readings of rules that are no more.
func (c *call) forget() {
	c.s.Readings = slices.DeleteFunc(c.s.Readings, func(x Reading) bool {
		for i := range c.e.rules {
			if r := &c.e.rules[i]; r.ID == x.Rule && (r.To == 0 || c.at < r.To) {
				return false
			}
		}
		return true
	})
}
