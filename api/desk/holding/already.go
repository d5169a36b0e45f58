package holding

import "github.com/motorpool/fleet/api/record"

// AlreadyRead is what a command has read just before it takes a hold, so that it is not read again. A vehicle that
// changes its class or is said to be elsewhere in between counts as one that changes afterwards: nobody asks then what
// the class has promised.
type AlreadyRead struct {
	// Calendar is the calendar that the hold goes into. It is only a guess of what the newest revision of that is.
	Calendar *record.Seen
	// Vehicle is the vehicle of the hold, for its class and place; nil if it was not read.
	Vehicle *record.Record[record.Vehicle]
	// Listed waits for the answer whether anybody of the account may be on the do-not-rent list; nil if that was known
	// before.
	Listed func() (bool, error)
}
