package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rest"
)

// How long a replay waits for something before it gives up.
const (
	insistFor = 5 * time.Minute  // for a store or broker that may be started again meanwhile
	claimsFor = 90 * time.Second // for claims that a killed process left behind; they can be taken over after 20 s
)

// whyAgain says what may be the matter with an error that may pass by itself, and "" of any other.
func whyAgain(err error) string {
	if fleet.CodeOf(err) == fleet.CodeConflict {
		return "Another process is making the same, or died while it did: what that one holds lapses within half a minute"
	}
	if fleet.CodeOf(err) == fleet.CodeUnavailable || rest.StoreTrouble(err) != nil {
		return "ClickHouse does not answer, or cannot now"
	}
	return ""
}

// untilDone does something that may be repeated until it succeeds or fails for good, and says what it waits for.
func untilDone(ctx context.Context, do func() error, w io.Writer) error {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = 100*time.Millisecond, 3*time.Second
	told, conflicting := "", time.Time{}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := do()
		if fleet.CodeOf(err) != fleet.CodeConflict {
			conflicting = time.Time{}
		} else if conflicting.IsZero() {
			conflicting = time.Now()
		}
		late := !conflicting.IsZero() && time.Since(conflicting) > claimsFor
		if err != nil && (late || ctx.Err() != nil || whyAgain(err) == "") {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(insistFor),
		backoff.WithNotify(func(err error, _ time.Duration) {
			if why := whyAgain(err); why != told {
				told = why
				fmt.Fprintf(w, "%s; trying again: %v\n", why, err)
			}
		}))
	return err
}
