// Package books is the room of money: payments and what they are for, and the ledger, to which every record with money
// in it is posted.
package books

import (
	"github.com/motorpool/fleet/api/desk/base"
)

// Books does what is done with money. It is safe for concurrent use.
type Books struct {
	*base.Base

	// Aside takes what is posted of revisions that are not written yet; nil where they are.
	Aside *Aside
}

// New opens the room.
func New(b *base.Base) *Books { return &Books{Base: b} }

// Register has postings and prepayments follow from what is written.
func (d *Books) Register() {
	d.keepBooks()
	d.prepayments()
}
