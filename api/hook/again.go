package hook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/pipeline/webhook"
	"github.com/motorpool/fleet/query"
)

// Commands asks those who deliver (as webhook.Commands does) for deliveries once more. What returned without an error
// will be done.
type Commands interface {
	// Recover has deliveries tried again that are in some states: failed, skipped, retrying, or all if none is named.
	Recover(ctx context.Context, account fleet.AccountID, endpoint uint64, s webhook.Selection, statuses ...string) error
	// Replay has events delivered again, by deliveries of their own; the number of the replay is the caller's.
	Replay(ctx context.Context, account fleet.AccountID, endpoint, replay uint64, s webhook.Selection) error
	// Retry has one delivery tried again.
	Retry(ctx context.Context, account fleet.AccountID, endpoint, delivery uint64) error
}

// RecoverNew is the body of the action that has deliveries tried again.
type RecoverNew struct {
	Since  record.Instant  `json:"since" doc:"Of events that became known at or after this instant; at most 25 days ago."`
	Until  *record.Instant `json:"until,omitempty" doc:"And before this one; now unless given."`
	Types  []string        `json:"types,omitempty" maxItems:"200" nullable:"false" doc:"Only of these: types, prefix.* or categories."`
	Status []string        `json:"status,omitempty" maxItems:"3" nullable:"false" enum:"failed,skipped,retrying" doc:"Only in these states; all three unless given. retrying: those that would rest for more than a minute."`
}

// ReplayNew is the body of the action that has events delivered again.
type ReplayNew struct {
	Since record.Instant  `json:"since" doc:"Events that became known at or after this instant; at most 30 days ago."`
	Until *record.Instant `json:"until,omitempty" doc:"And before this one; now unless given."`
	Types []string        `json:"types,omitempty" maxItems:"200" nullable:"false" doc:"Only of these: types, prefix.* or categories."`
}

// Asked is what was asked for.
type Asked struct {
	EndpointID string         `json:"endpoint_id" example:"whe_1234"`
	Since      record.Instant `json:"since"`
	Until      record.Instant `json:"until"`
}

func (a *API) againRoutes(s *rest.Resource[record.WebhookEndpoint]) {
	rest.Act(s, rest.Action[record.WebhookEndpoint, RecoverNew]{
		Verb: "recover", Summary: "Send again what a webhook endpoint missed", Status: http.StatusAccepted,
		AnyRevision: true, Reply: Asked{},
		About: "Deliveries that failed for good, were skipped while it was not enabled, or wait for a later attempt, begin " +
			"their schedule anew, under the same `webhook-id`. It is done soon after; the list of deliveries tells how it goes. A 409 if the endpoint is " +
			"not enabled, or while another one is under way.",
		Answer: func(w http.ResponseWriter, c *rest.Call[record.WebhookEndpoint], sent RecoverNew) error {
			return a.again(w, c, recoverable, sent.Since, sent.Until, sent.Types, func(s webhook.Selection) error {
				return a.Settings.Commands.Recover(c.Context(), c.Account, c.ID, s, sent.Status...)
			})
		},
	})
	rest.Act(s, rest.Action[record.WebhookEndpoint, ReplayNew]{
		Verb: "replay", Summary: "Send events to a webhook endpoint again", Status: http.StatusAccepted,
		AnyRevision: true, Reply: Asked{},
		About: "All events of the span that it wants now, also those that it had or that were never meant for it, as " +
			"new deliveries with the same `webhook-id`. A 409 if the endpoint is not enabled, while another one is under way, " +
			"or for a quarter of an hour while deliveries of the last one wait.",
		Answer: func(w http.ResponseWriter, c *rest.Call[record.WebhookEndpoint], sent ReplayNew) error {
			replay := a.NewID(c.Request)
			return a.again(w, c, kept, sent.Since, sent.Until, sent.Types, func(s webhook.Selection) error {
				return a.Settings.Commands.Replay(c.Context(), c.Account, c.ID, replay, s)
			})
		},
	})
}

// recoverable is how old deliveries are at most that are recovered: those that fail then are tried for days, in which
// their event must still be there.
const recoverable = 25 * 24 * time.Hour

// again checks what is asked for, of a span that begins no longer ago than reach, and asks.
func (a *API) again(w http.ResponseWriter, c *rest.Call[record.WebhookEndpoint], reach time.Duration,
	since record.Instant, until *record.Instant, types []string, ask func(webhook.Selection) error) error {
	rec, err := a.endpoints.Get(c.Context(), c.Account, c.ID)
	if err != nil {
		return err
	}
	if err := a.sendable(c.Request, &rec); err != nil {
		return err
	}
	now := a.Now()
	s := webhook.Selection{Since: since.Time, Until: now, Types: types}
	if until != nil {
		s.Until = until.Time
	}
	var faults []fleet.FieldError
	switch {
	case s.Since.Before(now.Add(-reach)):
		faults = append(faults, fleet.FieldError{Pointer: "/since", Code: "invalid",
			Detail: fmt.Sprintf("must be within the last %d days: events are kept for 30, and attempts take some", reach/day)})
	case !s.Since.Before(s.Until):
		faults = append(faults, fleet.FieldError{Pointer: "/until", Code: "invalid", Detail: "must be after since"})
	}
	unknown, err := a.checkTypes(auth.From(c.Context()), types)
	if err != nil {
		return err
	}
	if faults = append(faults, unknown...); faults != nil {
		return rest.ValidationError(faults)
	}
	var underWay *webhook.UnderWayError
	if err := ask(s); errors.As(err, &underWay) {
		when := "it is"
		if underWay.Waits {
			when = "they are, or a quarter of an hour later"
		}
		return fleet.NewError(fleet.CodeConflict, "A webhook endpoint has one recover and one replay at a time, and "+
			underWay.Error()+". Ask again when "+when+"; GET /v1/webhook_deliveries shows how it goes.")
	} else if err != nil {
		return err
	}
	return rest.WriteJSON(w, c.Request, http.StatusAccepted, Asked{
		EndpointID: fleet.FormatID(fleet.WebhookEndpointPrefix, c.ID), Since: record.InstantOf(s.Since),
		Until: record.InstantOf(s.Until)})
}

// sendable refuses an endpoint to which nothing is sent.
func (a *API) sendable(r *http.Request, rec *record.Record[record.WebhookEndpoint]) error {
	if err := a.usable(r, rec); err != nil {
		return err
	}
	if rec.Body.Status != record.WebhookEnabled {
		return fleet.NewError(fleet.CodeConflict, "The webhook endpoint is "+rec.Body.Status+
			": nothing is sent to it. Enable it first.")
	}
	if a.Settings.Commands == nil {
		return fleet.NewError(fleet.CodeUnavailable, "This process cannot ask for deliveries.")
	}
	return nil
}

// retry has one delivery tried again.
func (a *API) retry(w http.ResponseWriter, r *http.Request) error {
	d, err := a.deliveryOfPath(r)
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	rec, err := a.endpoints.Get(r.Context(), account, d.Endpoint)
	if err != nil {
		return err
	}
	if err := a.sendable(r, &rec); err != nil {
		return err
	}
	if d.Status == "pending" || d.Status == "retrying" && d.NextAt.Time().Before(a.Now().Add(time.Minute)) {
		return fleet.NewError(fleet.CodeConflict, "The webhook delivery waits for its next attempt already, at "+
			d.NextAt.Time().UTC().Format(time.RFC3339)+".")
	}
	if err := a.Settings.Commands.Retry(r.Context(), account, d.Endpoint, d.ID); err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusAccepted, deliveryOf(&d))
}

// Health is how an endpoint fares.
type Health struct {
	EndpointID    string         `json:"endpoint_id" example:"whe_1234"`
	Status        string         `json:"status" enum:"enabled,paused,disabled"`
	LastSuccessAt record.Instant `json:"last_success_at"`
	LastFailureAt record.Instant `json:"last_failure_at"`
	LastStatus    *int           `json:"last_status" nullable:"true" doc:"Of the last attempt; null if it was not answered."`
	LastError     *string        `json:"last_error" nullable:"true" doc:"In words."`
	Attempts      uint64         `json:"attempts" doc:"Of the last 24 hours."`
	Failures      uint64         `json:"failures" doc:"Of them."`
	FailureShare  *uint64        `json:"failure_share_bp" nullable:"true" doc:"failures of attempts, in basis points; null without attempts."`
	P50MS         *int           `json:"p50_ms" nullable:"true" doc:"Half of those that were answered took no longer."`
	P95MS         *int           `json:"p95_ms" nullable:"true" doc:"19 of 20 took no longer."`
	Backlog       uint64         `json:"backlog" doc:"Deliveries that wait."`
	OldestAt      record.Instant `json:"backlog_since" doc:"Of the event that waits longest."`
	Circuit       string         `json:"circuit" enum:"closed,open,half_open" doc:"open: nothing is sent until circuit_open_until; half_open: one is tried."`
	OpenUntil     record.Instant `json:"circuit_open_until"`
	FailingSince  record.Instant `json:"failing_since" doc:"The first failure after the last success; null if the last attempt succeeded."`
	FailedInARow  uint32         `json:"failed_in_a_row"`
	SwitchedOffAt record.Instant `json:"switched_off_at" doc:"When it is switched off if nothing succeeds, with 10 attempts by then; null unless it is failing."`
	WarnedPercent int            `json:"warned_percent" doc:"Share of the time until then of which webhook_endpoint.failing told: 0, 50, 75 or 90."`
}

// patience is how long an endpoint may fail before it is switched off.
const patience = 5 * 24 * time.Hour

func (a *API) healthRoute() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/webhook_endpoints/{id}/health", ID: "getWebhookEndpointHealth", Tag: "Webhooks",
		Scope: auth.WebhooksManage, Summary: "How a webhook endpoint fares", Reply: Health{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		rec, err := a.endpointOf(r)
		if err != nil {
			return err
		}
		h, err := query.WebhookHealthOf(r.Context(), a.DB, auth.From(r.Context()).Account, rec.ID,
			a.Now().Add(-24*time.Hour))
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusOK, healthOf(&rec, &h))
	})
}

func healthOf(rec *record.Record[record.WebhookEndpoint], h *query.WebhookHealth) Health {
	view := Health{EndpointID: fleet.FormatID(fleet.WebhookEndpointPrefix, rec.ID), Status: rec.Body.Status,
		LastSuccessAt: instantOf(h.LastSuccess), LastFailureAt: instantOf(h.LastFailure),
		LastStatus: intOrNull(int(h.LastStatus)), LastError: rest.TextOrNull(h.LastError), Attempts: h.Attempts,
		Failures: h.Failures, Backlog: h.Backlog, OldestAt: instantOf(h.Oldest), Circuit: h.Circuit,
		OpenUntil: instantOf(h.OpenUntil), FailingSince: instantOf(h.FailingSince), FailedInARow: h.Failing,
		WarnedPercent: int(h.Warned)}
	if h.FailingSince.Time().Before(rec.Body.EnabledAt.Time) { // who is enabled again begins anew
		view.FailingSince, view.FailedInARow, view.WarnedPercent, h.FailingSince = record.Instant{}, 0, 0, 0
	}
	if view.Circuit == "" {
		view.Circuit = "closed"
	}
	if h.Attempts > 0 {
		share := h.Failures * 10_000 / h.Attempts
		view.FailureShare = &share
	}
	if h.Attempts > 0 && h.P95 > 0 {
		p50, p95 := int(h.P50), int(h.P95)
		view.P50MS, view.P95MS = &p50, &p95
	}
	if h.FailingSince > 0 && rec.Body.Status == record.WebhookEnabled {
		view.SwitchedOffAt = record.InstantOf(h.FailingSince.Time().Add(patience))
	}
	return view
}
