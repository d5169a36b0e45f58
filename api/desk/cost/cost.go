// Package cost is the room of what costs by schedule: it makes the expenses that vehicles' terms and recurring costs
// ask for, each once, and changes them when the terms are changed. What is asked for is worked out in api/rental/cost.
//
// An expense of a schedule bears an id that is made of whose it is, which schedule and which period, so that any number
// of processes, and those that come after one that died, make the same one. What was looked at is noted in
// schedule_looks; that says where to look, and decides nothing.
package cost

import (
	"time"

	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/books"
)

// Costs makes expenses by schedule. It is safe for concurrent use.
type Costs struct {
	*base.Base
	Books *books.Books

	LookMost  int // subjects that a round looks at
	WriteMost int // expenses that a round writes; the next one goes on
}

// New opens the room over those that it needs.
func New(b *base.Base, money *books.Books) *Costs {
	return &Costs{Base: b, Books: money, LookMost: 1000, WriteMost: 1000}
}

// postEvery is how often somebody looks, which reads the posted expenses of all accounts; a process does once at its
// start, too.
const postEvery = 10 * time.Minute

// Register registers the duty.
func (d *Costs) Register() { d.AddDuty("costs by schedule", postEvery, d.Post) }
