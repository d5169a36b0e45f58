package fact

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/motorpool/fleet"
)

// lateness is that of an account whose facts could not be made.
type lateness struct {
	since   looked // what was written since is not made
	unbegun bool   // nor has everything been made for the first time
}

// outcome is what making facts has come to: of how many vehicles, and the first error of each account that failed.
type outcome struct {
	vehicles int
	failed   map[uint64]error
}

// add notes what making facts of an account has come to.
func (o *outcome) add(account uint64, err error) {
	if err != nil && o.failed[account] == nil {
		o.failed[account] = fmt.Errorf("make the facts of %s: %w", fleet.AccountID(account), err)
	}
}

// err is the errors of all accounts that failed.
func (o *outcome) err() error {
	var all []error
	for _, id := range slices.Sorted(maps.Keys(o.failed)) {
		all = append(all, o.failed[id])
	}
	return errors.Join(all...)
}

func has(late map[uint64]lateness, account uint64) bool {
	_, ok := late[account]
	return ok
}
