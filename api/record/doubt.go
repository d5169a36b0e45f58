package record

import (
	"strings"

	"github.com/motorpool/fleet"
)

// DoubtError says that something may be a typing error, and how to say that it is none. It unwraps to a *fleet.Error of
// the code fleet.CodeConfirm.
type DoubtError struct {
	Confirm []string // what to send in confirm
	Faults  []fleet.FieldError
}

func (e *DoubtError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error as callers of the interface see it.
func (e *DoubtError) Unwrap() error {
	return fleet.NewError(fleet.CodeConfirm,
		e.Faults[0].Detail+`. If it is right, send it again with "confirm": ["`+strings.Join(e.Confirm, `", "`)+`"].`,
		e.Faults...)
}
