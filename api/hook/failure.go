package hook

import (
	"encoding/json"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/record"
)

// Failure is what events tell of an endpoint that fails: nothing that is a secret, as its address may be.
type Failure struct {
	ID            string         `json:"id" doc:"Identity of the endpoint." example:"whe_1234"`
	Object        string         `json:"object" enum:"webhook_endpoint" example:"webhook_endpoint"`
	FailingSince  record.Instant `json:"failing_since" doc:"The first failure after the last success, or after it was enabled."`
	Failures      int            `json:"failures" doc:"Attempts since then, all of which failed." example:"12"`
	LastError     string         `json:"last_error" doc:"In words." example:"answered 500 Internal Server Error"`
	WarnedPercent int            `json:"warned_percent" doc:"Share of the time until it is switched off that has passed: 50, 75 or 90; 0 when it was switched off." example:"50"`
	Reason        string         `json:"reason" doc:"Why it was switched off, in words; empty before." example:"It answered 410: it wants no more events."`
}

// FailureView shows events of endpoints.
var FailureView = eventview.View{Of: Failure{}, Show: func(e *fleet.Event, _ bool) (any, error) {
	var f Failure
	if err := json.Unmarshal(e.Body, &f); err != nil {
		return nil, fmt.Errorf("read what is told of a webhook endpoint: %w", err)
	}
	return f, nil
}}
