package holding

import "github.com/motorpool/fleet/api/record"

// AlreadyRead is what a command has seen just before it takes a hold, so that it is not read again: the calendar, which is only a guess of what its newest
// revision is, and the vehicle, for its class and place. A vehicle that changes its class or is said to be elsewhere in between is as one of which that is
// said afterwards: nobody asks then what the class has promised. A search of the class's room must know the own hold (see capacity): so it waits for that.
type AlreadyRead struct {
	Calendar *record.Seen
	Vehicle  *record.Record[record.Vehicle] // nil if it was not seen
	// listed, if not nil, returns when the tables know the holds that were taken.
	Listed func() error
}
