package record

import (
	"fmt"
	"strings"

	"github.com/motorpool/fleet"
)

// TransitionError says that a record's state does not allow what was asked. It unwraps to a *fleet.Error of the code
// fleet.CodeTransition.
type TransitionError struct {
	What    string   // "vehicle veh_1"
	Current string   // the state that the record is in
	Wanted  string   // the state that was asked for
	Allowed []string // the states that it may go to; never nil
	Because string   // what is said in the place of those, if it is known; the rest of a sentence
}

func (e *TransitionError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error as callers of the interface see it.
func (e *TransitionError) Unwrap() error {
	may := "and cannot be changed"
	if len(e.Allowed) > 0 {
		may = "from which it may become " + strings.Join(e.Allowed, ", ")
	}
	if e.Because != "" {
		return fleet.NewError(fleet.CodeTransition, fmt.Sprintf("The %s is %s, %s.", e.What, e.Current, e.Because))
	}
	return fleet.NewError(fleet.CodeTransition,
		fmt.Sprintf("The %s is %s, %s; %s is not possible now.", e.What, e.Current, may, e.Wanted))
}
