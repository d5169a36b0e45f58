package base

import (
	"context"
	"errors"
)

// Each does something with each of what a duty has found. One that fails keeps none of the others from their turn; the
// error is all of theirs. It ends early only with ctx.
func Each[T any](ctx context.Context, found []T, do func(T) error) error {
	var failed error
	for _, one := range found {
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
		failed = errors.Join(failed, do(one))
	}
	return failed
}

// EachPage does what each does with all that next gives, a page of so many at a time: next must go on after the last
// that was done.
func EachPage[T any](ctx context.Context, page int, next func() ([]T, error), do func(T) error) error {
	var failed error
	for {
		found, err := next()
		failed = errors.Join(failed, err, Each(ctx, found, do))
		if err != nil || len(found) < page || ctx.Err() != nil {
			return failed
		}
	}
}
