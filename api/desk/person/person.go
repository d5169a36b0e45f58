// Package person is the room of customers: who is who although written twice, what stands between somebody and a
// rental, the files of documents, and how a person is taken out of the store while the books stay whole.
package person

import (
	"sync"

	"github.com/motorpool/fleet/api/desk/base"
)

// Persons does what is done with customers. It is safe for concurrent use.
type Persons struct {
	*base.Base
	lists sync.Map // the accounts of which somebody is known to be or have been on the do-not-rent list
}

// New opens the room.
func New(b *base.Base) *Persons { return &Persons{Base: b} }

// Register registers what follows from customers and their documents, and the duties that are about them.
func (d *Persons) Register() {
	d.mergeCustomers()
	d.dropFiles()
	d.doNotRent()
	d.eraseCustomers()
}
