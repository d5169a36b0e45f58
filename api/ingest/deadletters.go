package ingest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

const deadLetterPrefix = "dlt_"

// DeadLetter is what could not become data, and why.
type DeadLetter struct {
	ID           string         `json:"id" example:"dlt_1234"`
	At           record.Instant `json:"at" doc:"When it reached us."`
	Reason       string         `json:"reason" example:"zero_coordinates"`
	Detail       string         `json:"detail"`
	UniqueID     string         `json:"unique_id" doc:"Of the device, if the record named one."`
	Source       Source         `json:"source"`
	Format       string         `json:"format" example:"json"`
	PayloadBytes uint64         `json:"payload_bytes" doc:"Length of the record."`
	Payload      []byte         `json:"payload,omitempty" doc:"The record's bytes in base64, at most 64 KiB of them; only when asked for by id, and only if the record is one JSON object: one with several reports may hold those of others."`
}

// Source says where in Kafka a record is.
type Source struct {
	Topic     string `json:"topic"`
	Partition uint16 `json:"partition"`
	Offset    uint64 `json:"offset"`
	Index     uint32 `json:"index" doc:"Of the report in its record."`
}

func (a *API) deadLetterRoutes() {
	var reasons []string
	for _, reason := range fleet.Refusals {
		if reason.DeadLettered() {
			reasons = append(reasons, string(reason))
		}
	}
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/dead_letters", ID: "listDeadLetters", Tag: "Ingest", Scope: auth.TelematicsRead,
		Summary: "What could not become data",
		About:   "Newest first, for 90 days. What of a batch could not be traced to a device of the account is not shown.",
		Params: append([]rest.Param{
			{Name: "from", Format: "date-time", About: "Time of arrival from which, inclusive."},
			{Name: "until", Format: "date-time", About: "Time of arrival up to which, exclusive."},
			{Name: "reason", Enum: reasons}, {Name: "unique_id", NotEmpty: true, About: "Of the device."},
		}, rest.PageParams...),
		Reply: rest.List[DeadLetter]{},
	}, a.listDeadLetters)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/dead_letters/{id}", ID: "getDeadLetter", Tag: "Ingest", Scope: auth.TelematicsRead,
		Summary: "One dead letter with its bytes", Reply: DeadLetter{},
	}, a.getDeadLetter)
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: "/v1/dead_letters/{id}/replay", ID: "replayDeadLetter", Tag: "Ingest",
		Scope: auth.TelematicsWrite, Class: auth.Ingest,
		Summary: "Send a dead letter's report again",
		About: "Puts the report on its topic again, as one of the device that `unique_id` names, for when the reason is gone (a device was assigned, a fault of ours mended). " +
			"The device must still be one of the account. What of it has become data since counts once.",
		Status: http.StatusAccepted, Reply: DeadLetter{},
	}, a.replayDeadLetter)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/usage", ID: "listUsage", Tag: "Ingest", Scope: auth.TelematicsRead,
		Summary: "Reports taken in by day",
		About:   "For each day (UTC) with any: how many reports were read, stored and refused, by reason. `read` is `stored` plus the sum of `refused`. The last 30 days unless `from` and `to` are given, at most 366.",
		Params: []rest.Param{
			rest.FromParam,
			rest.UntilParam,
		},
		Reply: rest.List[UsageDay]{},
	}, a.listUsage)
}

func deadLetterOf(d *query.DeadLetter) DeadLetter {
	return DeadLetter{
		ID: fleet.FormatID(deadLetterPrefix, d.ID), At: record.InstantOf(d.At.Time()), Reason: string(d.Reason),
		Detail: d.Detail, UniqueID: d.UniqueID,
		Source: Source{Topic: d.Topic, Partition: d.Partition, Offset: d.Offset, Index: d.Index},
		Format: d.Format, PayloadBytes: d.PayloadBytes, Payload: d.Payload,
	}
}

func (a *API) listDeadLetters(w http.ResponseWriter, r *http.Request) error {
	f := query.DeadLetterFilter{
		Account: auth.From(r.Context()).Account, From: rest.TimeParam(r, "from", 0), To: rest.TimeParam(r, "until", 0),
		Reason: fleet.Refusal(rest.TextParam(r, "reason", "")), UniqueID: rest.TextParam(r, "unique_id", ""),
	}
	if err := rest.CheckSpan(f.From, f.To); err != nil {
		return err
	}
	list := "dead_letters/" + string(f.Reason) + "/" + f.UniqueID
	p, err := rest.PageOf(r, list)
	if err != nil {
		return err
	}
	if f.AfterAt, f.AfterID, err = p.Behind(); err != nil {
		return err
	}
	total, err := query.CountDeadLetters(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	f.Offset, f.Limit = p.Offset(), p.PerPage+1
	found, err := query.DeadLetters(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	var after []string
	if len(found) > p.PerPage {
		found = found[:p.PerPage]
		after = rest.AfterOf(found[p.PerPage-1].At, found[p.PerPage-1].ID)
	}
	data := make([]DeadLetter, len(found))
	for i := range found {
		data[i] = deadLetterOf(&found[i])
	}
	return rest.WriteList(w, r, list, p, data, total, after)
}

// deadLetter finds the dead letter in the path.
func (a *API) deadLetter(r *http.Request) (query.DeadLetter, error) {
	id, err := rest.PathID(r, "dead letter", deadLetterPrefix)
	if err != nil {
		return query.DeadLetter{}, err
	}
	d, ok, err := query.FindDeadLetter(r.Context(), a.DB, auth.From(r.Context()).Account, id)
	if err == nil && !ok {
		err = rest.NotFound("dead letter", fleet.FormatID(deadLetterPrefix, id))
	}
	return d, err
}

func (a *API) getDeadLetter(w http.ResponseWriter, r *http.Request) error {
	d, err := a.deadLetter(r)
	if err != nil {
		return err
	}
	// A record of several reports may hold those of other accounts: it is kept as it came, and shown to nobody.
	if !bytes.HasPrefix(bytes.TrimSpace(d.Payload), []byte("{")) {
		d.Payload = nil
	}
	return rest.WriteJSON(w, r, http.StatusOK, deadLetterOf(&d))
}

func (a *API) replayDeadLetter(w http.ResponseWriter, r *http.Request) error {
	d, err := a.deadLetter(r)
	if err != nil {
		return err
	}
	if uint64(len(d.Payload)) != d.PayloadBytes {
		return fleet.NewError(fleet.CodeConflict,
			fmt.Sprintf("Only %d of the record's %d bytes are kept, so it cannot be sent again.", len(d.Payload),
				d.PayloadBytes))
	}
	report, err := a.reportOf(&d)
	if err != nil {
		return err
	}
	// Its record may name another device, and its device may have come to another account since.
	account := auth.From(r.Context()).Account
	trackers, err := query.FindTrackers(r.Context(), a.DB, query.TrackerName{Account: account, UniqueID: d.UniqueID})
	if err != nil {
		return err
	}
	if len(trackers) == 0 || report.UniqueID != d.UniqueID {
		return fleet.NewError(fleet.CodeConflict,
			"The report is not of a device that the account has, so it cannot be sent again.")
	}
	if err := a.carryReport(w, account, &report); err != nil {
		return err
	}
	topic := PositionsTopic
	if !report.Positioned {
		topic = TelemetryTopic
	}
	if err := a.publish(r.Context(), account, topic, []fleet.Report{report}); err != nil {
		return err
	}
	d.Payload = nil
	return rest.WriteJSON(w, r, http.StatusAccepted, deadLetterOf(&d))
}

// reportOf reads the report that a dead letter is about: the only one of its record, or that at its index.
func (a *API) reportOf(d *query.DeadLetter) (fleet.Report, error) {
	if a.Reader == nil {
		return fleet.Report{}, errNoIntake
	}
	reports, err := a.Reader.ReadRecord(d.Format, d.Payload)
	if err != nil {
		return fleet.Report{}, fleet.NewError(fleet.CodeConflict, "The record cannot be read, so it cannot be sent again.")
	}
	at := int(d.Index)
	if len(reports) == 1 {
		at = 0
	}
	if at >= len(reports) {
		return fleet.Report{}, fleet.NewError(fleet.CodeConflict,
			"The record does not hold the report, so it cannot be sent again.")
	}
	return reports[at], nil
}

// UsageDay is what an account sent on one day.
type UsageDay struct {
	DayOn   string           `json:"day_on" format:"date" example:"2026-01-31"`
	Read    int64            `json:"read"`
	Stored  int64            `json:"stored" doc:"Positions stored."`
	Signals int64            `json:"signals" doc:"Measurements stored."`
	Refused map[string]int64 `json:"refused" doc:"Reports refused, by reason."`
}

func (a *API) listUsage(w http.ResponseWriter, r *http.Request) error {
	to := rest.TimeParam(r, "until", fleet.MillisOf(a.Now()))
	from := rest.TimeParam(r, "from", to.Add(-30*24*time.Hour))
	if err := rest.CheckSpan(from, to); err != nil {
		return err
	}
	if to.Sub(from) > 366*24*time.Hour {
		return rest.InvalidParam("from", "must be at most 366 days before until")
	}
	days, err := query.DailyOutcomes(r.Context(), a.DB, auth.From(r.Context()).Account, from, to)
	if err != nil {
		return err
	}
	data := make([]UsageDay, len(days))
	for i, d := range slices.Backward(days) {
		data[len(days)-1-i] = UsageDay{DayOn: d.Day.Time().Format(time.DateOnly), Read: d.Read, Stored: d.Stored,
			Signals: d.Signals, Refused: map[string]int64{}}
		for reason, n := range d.Refused {
			data[len(days)-1-i].Refused[string(reason)] = n
		}
	}
	return rest.WriteList(w, r, "", rest.Page{Number: 1, PerPage: max(len(data), 1)}, data, len(data), nil)
}
