// Package record is the only writer of business records.
package record

import "github.com/motorpool/fleet"

// TransitionError says that a record's state does not allow what was asked. It unwraps to a *fleet.Error of the code
// fleet.CodeTransition.
type TransitionError struct {
	Current string   // the state that the record is in
	Allowed []string // the states that it may go to
	message string
}

func (e *TransitionError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error as callers of the interface see it.
func (e *TransitionError) Unwrap() error { return fleet.NewError(fleet.CodeTransition, e.message) }
