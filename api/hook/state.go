package hook

import (
	"context"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// stateRoutes register what changes whether an endpoint is told of anything.
func (a *API) stateRoutes(s *rest.Resource[record.WebhookEndpoint]) {
	rest.Act(s, rest.Action[record.WebhookEndpoint, rest.NoBody]{
		Verb: "pause", Summary: "Pause a webhook endpoint", Refuses: "One that is not enabled",
		About: "What happens from now on is kept as skipped deliveries, which `recover` sends.",
		Do: func(c *rest.Call[record.WebhookEndpoint], _ rest.NoBody) (record.Record[record.WebhookEndpoint], error) {
			return c.Update(func(rec *record.Record[record.WebhookEndpoint]) error {
				return a.move(rec, record.WebhookPaused)
			})
		},
	})
	rest.Act(s, rest.Action[record.WebhookEndpoint, rest.NoBody]{
		Verb: "enable", Summary: "Enable a webhook endpoint", Refuses: "One that is enabled",
		About: "Of one that is paused or was switched off. What was skipped meanwhile is sent by `recover`, not by this.",
		Do: func(c *rest.Call[record.WebhookEndpoint], _ rest.NoBody) (record.Record[record.WebhookEndpoint], error) {
			return c.Update(func(rec *record.Record[record.WebhookEndpoint]) error {
				if err := a.usable(c.Request, rec); err != nil {
					return err
				}
				return a.move(rec, record.WebhookEnabled)
			})
		},
	})
}

// moves are the states that callers can bring an endpoint to from each.
var moves = map[string][]string{
	record.WebhookEnabled:  {record.WebhookPaused},
	record.WebhookPaused:   {record.WebhookEnabled},
	record.WebhookDisabled: {record.WebhookEnabled},
}

func (a *API) move(rec *record.Record[record.WebhookEndpoint], to string) error {
	b := &rec.Body
	if from := b.Status; rec.Archived() || from == to || moves[from][0] != to {
		t := &record.TransitionError{What: "webhook endpoint " + fleet.FormatID(fleet.WebhookEndpointPrefix, rec.ID),
			Current: from, Wanted: to, Allowed: moves[from]}
		if rec.Archived() {
			t.Allowed, t.Because = []string{}, "and archived for good"
		}
		return t
	}
	b.Status, b.DisabledBy, b.DisabledReason = to, "", ""
	if to == record.WebhookEnabled {
		b.EnabledAt = record.InstantOf(a.Now())
	}
	return nil
}

// Why an endpoint was switched off.
const (
	ByItself = "auto" // it only failed for too long
	Gone     = "gone" // it answered that it is no more
)

// SwitchOff disables an endpoint that is enabled, and says why: by is ByItself or Gone, reason is for people. One that
// has another address than url by now, is not enabled, or is not there any more, stays as it is.
func SwitchOff(ctx context.Context, endpoints *record.Log[record.WebhookEndpoint], account fleet.AccountID, id uint64,
	url, by, reason string) error {
	_, err := endpoints.Update(ctx, record.System, account, id, 0,
		func(rec *record.Record[record.WebhookEndpoint]) error {
			if b := &rec.Body; Sends(rec, url) {
				b.Status, b.DisabledBy, b.DisabledReason = record.WebhookDisabled, by, reason
			}
			return nil
		})
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return nil
	}
	return err
}

// Sends says whether events are sent to an endpoint, and to that address.
func Sends(rec *record.Record[record.WebhookEndpoint], url string) bool {
	return !rec.Archived() && rec.Body.Status == record.WebhookEnabled && rec.Body.URL == url
}
