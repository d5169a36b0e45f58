package holding

import (
	"context"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
)

// OpenCalendars opens the calendars. What a hold was taken for must be written well before the hold
// counts as abandoned.
func (d *Holds) OpenCalendars(cfg calendar.Config) {
	d.WriteWithin = cfg.Abandoned * 3 / 4
	d.Calendars = calendar.New(cfg, d.Store, d.wanted, d.Now)
	d.ClassCalendars = calendar.NewShared(cfg, d.Store,
		func(ctx context.Context, account fleet.AccountID, class uint64, h calendar.Hold) (bool, error) {
			return d.wantedAt(ctx, account, Place{Class: class}, h)
		}, d.Now)
}

// wanted says whether the record behind a hold of a vehicle wants it.
func (d *Holds) wanted(ctx context.Context, account fleet.AccountID, vehicle uint64, h calendar.Hold) (bool, error) {
	return d.wantedAt(ctx, account, Place{Vehicle: vehicle}, h)
}

// wantedAt asks whoever is behind a hold of a place; what nobody answers for is left alone.
func (d *Holds) wantedAt(ctx context.Context, account fleet.AccountID, at Place, h calendar.Hold) (bool, error) {
	for prefix, ask := range d.asked {
		if id, err := fleet.ParseID(prefix, h.Ref); err == nil {
			wants, err := ask(ctx, account, id, at, h)
			if fleet.CodeOf(err) == fleet.CodeNotFound {
				return false, nil
			}
			return wants, err
		}
	}
	return true, nil
}

// wants says whether the record of an id wants a hold of a place.
type wants func(ctx context.Context, account fleet.AccountID, id uint64, at Place, h calendar.Hold) (bool, error)

// AnswerFor has holds of the records whose ids begin with a prefix be asked of ask. It is called before
// the desk is used.
func (d *Holds) AnswerFor(prefix string, ask wants) { d.asked[prefix] = ask }

// Standing says whether a hold says what its holder wants of its place. A revision that needs less takes nothing, and
// stands upon the hold of the one before until the calendar is settled: so that is done before such a hold may go.
func Standing(h *calendar.Hold, revision uint64, want *calendar.Hold, settle func() error) (bool, error) {
	switch {
	case want == nil, h.Rev > revision:
		return false, nil // a bid came to nothing
	case want.From.Equal(h.From.Time) && want.Until.Equal(h.Until.Time) && want.SamePlaces(h):
		return true, nil
	}
	return false, settle()
}
