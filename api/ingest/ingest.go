package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// The topics that intake publishes to, by the names that Publisher knows.
const (
	PositionsTopic = "positions"
	TelemetryTopic = "telemetry"
)

// Bounds of intake.
const (
	MaxIngestItems = 10_000
	maxUniqueID    = 128  // bytes
	maxAlarm       = 100  // bytes
	maxItemErrors  = 1000 // items that a refusal of all of them names
	MaxMonths      = 24   // that the fixes of a request are of: each is a part of every table
	MonthItems     = 1000 // items that a month long ago counts for
)

// IngestPosition is a position as a gateway sends it. The device is named by device_id or unique_id, the time is
// fix_at; a quantity is given in one unit only, and what is not known is left out.
type IngestPosition struct {
	DeviceID    string                 `json:"device_id,omitempty" doc:"Our id of the device. Give this, or its own name in unique_id." example:"dev_1234"`
	UniqueID    string                 `json:"unique_id,omitempty" example:"352093081452251"`
	FixAt       instantInput           `json:"fix_at" doc:"RFC 3339, or milliseconds since 1970."`
	DeviceAt    instantInput           `json:"device_at,omitempty"`
	Lat         *float64               `json:"lat" doc:"Degrees WGS 84."`
	Lng         *float64               `json:"lng" doc:"Degrees WGS 84."`
	AltitudeM   *float64               `json:"altitude_m,omitempty"`
	SpeedMph    *float64               `json:"speed_mph,omitempty"`
	SpeedKmh    *float64               `json:"speed_kmh,omitempty"`
	SpeedMps    *float64               `json:"speed_mps,omitempty"`
	CourseDeg   *float64               `json:"course_deg,omitempty"`
	AccuracyM   *float64               `json:"accuracy_m,omitempty"`
	Satellites  *int                   `json:"satellites,omitempty"`
	Ignition    *bool                  `json:"ignition,omitempty"`
	Motion      *bool                  `json:"motion,omitempty"`
	OdometerMi  *float64               `json:"odometer_mi,omitempty"`
	OdometerKm  *float64               `json:"odometer_km,omitempty"`
	OdometerM   *float64               `json:"odometer_m,omitempty"`
	Valid       *bool                  `json:"valid,omitempty" doc:"False if the device itself doubts the fix."`
	Approximate *bool                  `json:"approximate,omitempty" doc:"Located by cell towers or wifi."`
	Mock        *bool                  `json:"mock,omitempty" doc:"A simulated location."`
	Alarm       string                 `json:"alarm,omitempty" maxLength:"100" example:"hardBraking" doc:"As Traccar names it: sos, accident, hardBraking, hardAcceleration, hardCornering, tow, powerCut, jamming and so on. Several are joined by commas; any other word is kept as it is. One that comes with a fix that is stored already counts all the same, at device_at."`
	DriverTag   string                 `json:"driver_tag,omitempty" maxLength:"128" doc:"Key, card or Bluetooth tag of who is logged in, as the tracker reads it; 0 says that nobody is. See /v1/driver_tags." example:"1A0000011D2A5C01"`
	Signals     map[string]signalInput `json:"signals,omitempty" doc:"Measurements by the name of their signal, in its unit."`
}

// IngestTelemetry are measurements of one moment as a gateway sends them.
type IngestTelemetry struct {
	DeviceID string                 `json:"device_id,omitempty" example:"dev_1234"`
	UniqueID string                 `json:"unique_id,omitempty" example:"352093081452251"`
	At       instantInput           `json:"at" doc:"RFC 3339, or milliseconds since 1970."`
	Driver   string                 `json:"driver_tag,omitempty" maxLength:"128" doc:"Key, card or Bluetooth tag of who is logged in; 0 says that nobody is."`
	Signals  map[string]signalInput `json:"signals,omitempty" doc:"Measurements by the name of their signal, in its unit; at least one, unless there is a driver_tag." example:"{\"soc_pct\":87.5}"`
}

// IngestResult says what became of one item.
type IngestResult struct {
	Index  int    `json:"index" doc:"Of the item in the request, from 0."`
	Status string `json:"status" enum:"accepted,rejected"`
	Code   string `json:"code,omitempty" doc:"Why it was rejected."`
	Detail string `json:"detail,omitempty"`
}

// IngestReply answers a batch.
type IngestReply struct {
	Data     []IngestResult `json:"data"`
	Accepted int            `json:"accepted"`
	Rejected int            `json:"rejected"`
}

// instantInput is an instant as it was sent: text or a number.
type instantInput json.RawMessage

func (v *instantInput) UnmarshalJSON(text []byte) error {
	*v = append((*v)[:0], text...)
	return nil
}

// Schema tells the OpenAPI document what readInstant takes.
func (instantInput) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: "string", Format: "date-time"}, {Type: "integer"}}}
}

// signalInput is the value of a signal: a number, or true and false for 1 and 0.
type signalInput float64

func (v *signalInput) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "true":
		*v = 1
		return nil
	case "false":
		*v = 0
		return nil
	}
	return json.Unmarshal(text, (*float64)(v))
}

// Schema tells the OpenAPI document what UnmarshalJSON takes.
func (signalInput) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: "number"}, {Type: "boolean"}}}
}

func (a *API) ingestRoutes() {
	const words = "One object, an array, or `{\"data\": […]}`; at most 10,000 items of 24 months and 5 MiB. Each item is judged by itself: `data` says which were accepted. " +
		"An accepted item is acknowledged by Kafka, and is on the map a moment later. If none is acceptable the answer is a 422; " +
		"if Kafka does not answer it is a 503, and all of it can be sent again: what came through twice counts once."
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: "/v1/positions", ID: "createPositions", Tag: "Ingest", Scope: auth.TelematicsWrite,
		Class:   auth.Ingest,
		Summary: "Send positions", About: words, Body: a.batchSchema(IngestPosition{}, "IngestPosition"),
		BodyLimit: a.Config.IngestLimit,
		Status:    http.StatusAccepted, Reply: IngestReply{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		return a.ingest(w, r, PositionsTopic, readPosition)
	})
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: "/v1/telemetry", ID: "createTelemetry", Tag: "Ingest", Scope: auth.TelematicsWrite,
		Class:   auth.Ingest,
		Summary: "Send telemetry", About: words, Body: a.batchSchema(IngestTelemetry{}, "IngestTelemetry"),
		BodyLimit: a.Config.IngestLimit,
		Status:    http.StatusAccepted, Reply: IngestReply{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		return a.ingest(w, r, TelemetryTopic, readMeasurements)
	})
}

// batchSchema describes one item, an array of them, or an object with such an array as data.
func (a *API) batchSchema(item any, name string) *huma.Schema {
	one := a.Schema(item, name)
	list := &huma.Schema{Type: "array", Items: one}
	return &huma.Schema{OneOf: []*huma.Schema{one, list,
		{Type: "object", Required: []string{"data"}, Properties: map[string]*huma.Schema{"data": list}}}}
}

// item is one report on its way, and who it says it is from.
type item struct {
	report   fleet.Report
	device   fleet.DeviceID // if given; of all that are good when they have been identified
	uniqueID string         // if given
	answer   string         // of the device to a command
	refused  *fleet.FieldError
}

// ingest judges each item, publishes those that are good under the unique id of the device that they were found to be
// of, and says what became of each. What goes on is what was read, never what was sent: two readers of one text may
// take it for two different things.
func (a *API) ingest(w http.ResponseWriter, r *http.Request, topic string,
	read func(json.RawMessage, *item) *fleet.FieldError) error {
	raw, err := splitBatch(rest.RequestBody(r))
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	items := make([]item, len(raw))
	var old oldMonths
	for i := range raw {
		if items[i].refused = read(raw[i], &items[i]); items[i].refused == nil {
			old.add(&items[i].report, a.Now())
		}
	}
	if err := a.carryReports(w, account, len(raw), old); err != nil {
		return err
	}
	if err := a.identify(r.Context(), account, items); err != nil {
		return err
	}
	reply := IngestReply{Data: make([]IngestResult, len(items))}
	var good []fleet.Report
	var fields []fleet.FieldError
	for i := range items {
		result := IngestResult{Index: i, Status: "accepted"}
		if f := items[i].refused; f != nil {
			result.Status, result.Code, result.Detail = "rejected", f.Code, f.Detail
			reply.Rejected++
			if len(fields) < maxItemErrors {
				fields = append(fields,
					fleet.FieldError{Pointer: fmt.Sprintf("/%d%s", i, f.Pointer), Code: f.Code, Detail: f.Detail})
			}
		} else {
			reply.Accepted++
			good = append(good, items[i].report)
		}
		reply.Data[i] = result
	}
	if len(good) == 0 {
		return fleet.Invalid(fields...)
	}
	if err := a.publish(r.Context(), account, topic, good); err != nil {
		return err
	}
	for i := range items {
		if it := &items[i]; it.refused == nil && it.answer != "" {
			if err := a.desk.Sender.Answered(r.Context(), rest.Author(r), account, uint64(it.device), it.answer); err != nil {
				return err // it is sent again, and what came through twice counts once
			}
		}
	}
	return rest.WriteJSON(w, r, http.StatusAccepted, reply)
}

// errNoIntake is the answer of a process that was given nothing to take data in with.
var errNoIntake = fleet.NewError(fleet.CodeUnavailable, "This process takes no data in.")

// oldMonths are those long ago that reports are of.
type oldMonths map[string]struct{}

// add adds the months of a report. Rows are dated by the fix, and some by the device's own clock.
func (m *oldMonths) add(r *fleet.Report, now time.Time) {
	lately := now.AddDate(0, -1, -1)
	for _, at := range [...]fleet.Millis{r.FixTime, r.DeviceTime} {
		if at == 0 || !at.Time().Before(lately) {
			continue
		}
		if *m == nil {
			*m = oldMonths{}
		}
		(*m)[at.Time().UTC().Format("2006-01")] = struct{}{}
	}
}

// carryReports refuses reports of too many months, and counts those of months long ago for what they cost: what is
// stored together of many months is stored in many pieces.
func (a *API) carryReports(w http.ResponseWriter, account fleet.AccountID, n int, old oldMonths) error {
	if len(old) > MaxMonths {
		return fleet.NewError(fleet.CodeValidation,
			fmt.Sprintf("The items are of %d different months; send those of at most %d at once.", len(old), MaxMonths))
	}
	return a.SpendItems(w, account, n+len(old)*MonthItems)
}

// carryReport is carryReports for one report that came by itself.
func (a *API) carryReport(w http.ResponseWriter, account fleet.AccountID, report *fleet.Report) error {
	var old oldMonths
	old.add(report, a.Now())
	return a.carryReports(w, account, 1, old)
}

// publish returns when Kafka has acknowledged all reports. Nothing is claimed when it has not.
func (a *API) publish(ctx context.Context, account fleet.AccountID, topic string, reports []fleet.Report) error {
	if a.Publisher == nil {
		return errNoIntake
	}
	if err := a.Refused(); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, rest.PublishTime)
	defer cancel()
	err := a.Publisher.Publish(bounded, account, topic, reports)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err() // the client is gone
	}
	a.Log.ErrorContext(ctx, "reports not published", "error", err, "topic", topic, "reports", len(reports), "request_id",
		rest.RequestID(ctx))
	return fleet.NewError(fleet.CodeUnavailable,
		"Kafka did not acknowledge the data. Send it again: what came through twice counts once.")
}

// splitBatch finds the items of a body.
func splitBatch(body []byte) ([]json.RawMessage, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || !json.Valid(body) {
		var any json.RawMessage
		err := json.Unmarshal(body, &any)
		if err == nil {
			err = io.EOF
		}
		return nil, rest.BadJSON(err)
	}
	array := body
	switch body[0] {
	case '{':
		var envelope struct {
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(body, &envelope); err != nil {
			return nil, rest.BadJSON(err)
		}
		if array = envelope.Data; array == nil || string(array) == "null" {
			return []json.RawMessage{body}, nil
		}
		if array[0] != '[' {
			return nil, fleet.Invalid(fleet.FieldError{Pointer: "/data", Code: "type", Detail: "expected array"})
		}
	case '[':
	default:
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "type", Detail: "expected object or array"})
	}
	return splitArray(array)
}

// splitArray finds the items of a valid array. It stops at the first one too many: a body of millions of empty items
// is small, and they would not be.
func splitArray(array []byte) ([]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(array))
	if _, err := dec.Token(); err != nil {
		return nil, rest.BadJSON(err)
	}
	var items []json.RawMessage
	for dec.More() {
		if len(items) == MaxIngestItems {
			return nil, fleet.NewError(fleet.CodeTooLarge,
				fmt.Sprintf("The batch has more than %d items; send at most so many at once.", MaxIngestItems))
		}
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return nil, rest.BadJSON(err)
		}
		items = append(items, item)
	}
	if len(items) == 0 {
		return nil, fleet.Invalid(fleet.FieldError{Pointer: "", Code: "required", Detail: "the batch is empty"})
	}
	return items, nil
}

// identify finds the device of each item that is good so far; one that is not the account's does not exist.
func (a *API) identify(ctx context.Context, account fleet.AccountID, items []item) error {
	nameOf := func(it *item) query.TrackerName {
		if it.device != 0 {
			return query.TrackerName{Account: account, ID: it.device}
		}
		return query.TrackerName{Account: account, UniqueID: it.uniqueID}
	}
	var names []query.TrackerName
	seen := map[query.TrackerName]bool{}
	for i := range items {
		if name := nameOf(&items[i]); items[i].refused == nil && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	found, err := a.trackers.find(ctx, names...)
	if err != nil {
		return err
	}
	for i := range items {
		it := &items[i]
		if it.refused != nil {
			continue
		}
		tracker, ok := found[nameOf(it)]
		if !ok || it.uniqueID != "" && tracker.UniqueID != it.uniqueID {
			pointer := "/unique_id"
			if it.device != 0 {
				pointer = "/device_id"
			}
			it.refused = &fleet.FieldError{Pointer: pointer, Code: string(fleet.CodeNotFound), Detail: "there is no such device"}
			continue
		}
		it.device, it.report.UniqueID = tracker.ID, tracker.UniqueID
	}
	return nil
}

// decodeItem reads one item strictly: a member that is not known is a mistake that would lose data unseen.
func decodeItem(raw json.RawMessage, v any) *fleet.FieldError {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		pointer := ""
		if e.Field != "" { // it is about a member, not about the whole item
			pointer = "/" + strings.ReplaceAll(e.Field, ".", "/")
		}
		return &fleet.FieldError{Pointer: pointer, Code: "type", Detail: "cannot be " + e.Value}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		return &fleet.FieldError{Pointer: "/" + name, Code: "unknown_field",
			Detail: "there is no member " + name + rest.DidYouMean(name, rest.MembersOf(reflect.TypeOf(v).Elem()))}
	}
	return &fleet.FieldError{Code: "invalid", Detail: "cannot be read"}
}

func readPosition(raw json.RawMessage, it *item) *fleet.FieldError {
	var in IngestPosition
	if f := decodeItem(raw, &in); f != nil {
		return f
	}
	if f := it.name(in.DeviceID, in.UniqueID); f != nil {
		return f
	}
	it.report = fleet.NewReport()
	p := &it.report
	p.Positioned = true
	var f *fleet.FieldError
	if p.FixTime, f = readFixTime("/fix_at", in.FixAt); f != nil {
		return f
	}
	if p.DeviceTime, f = readInstant("/device_at", in.DeviceAt); f != nil {
		return f
	}
	if in.Lat == nil || in.Lng == nil {
		return &fleet.FieldError{Pointer: "/lat", Code: string(fleet.RefusedMissingCoordinates),
			Detail: "lat and lng must be given"}
	}
	p.Lat, p.Lng = *in.Lat, *in.Lng
	if !(math.Abs(p.Lat) <= 90 && math.Abs(p.Lng) <= 180) {
		return &fleet.FieldError{Pointer: "/lat", Code: string(fleet.RefusedBadCoordinates),
			Detail: "lat must be within ±90 and lng within ±180 degrees"}
	}
	if p.Lat == 0 && p.Lng == 0 {
		return &fleet.FieldError{Pointer: "/lat", Code: string(fleet.RefusedZeroCoordinates),
			Detail: "0,0 is what trackers send without a fix"}
	}
	if p.Speed, f = oneOf(amount{in.SpeedMps, 1, "speed_mps"}, amount{in.SpeedKmh, fleet.MetresPerKmh, "speed_kmh"},
		amount{in.SpeedMph, fleet.MetresPerMph, "speed_mph"}); f != nil {
		return f
	}
	if p.Odometer, f = oneOf(amount{in.OdometerM, 1, "odometer_m"}, amount{in.OdometerKm, 1000, "odometer_km"},
		amount{in.OdometerMi, fleet.MetresPerMile, "odometer_mi"}); f != nil {
		return f
	}
	p.Altitude, p.Course, p.Accuracy = OrNaN(in.AltitudeM), OrNaN(in.CourseDeg), OrNaN(in.AccuracyM)
	if in.Satellites != nil {
		p.Satellites = *in.Satellites
	}
	p.Ignition, p.Motion = triOf(in.Ignition), triOf(in.Motion)
	p.Invalid = in.Valid != nil && !*in.Valid
	p.Approximate = in.Approximate != nil && *in.Approximate
	p.Mock = in.Mock != nil && *in.Mock
	if p.Alarm = in.Alarm; len(p.Alarm) > maxAlarm {
		return &fleet.FieldError{Pointer: "/alarm", Code: "invalid",
			Detail: fmt.Sprintf("must be at most %d bytes", maxAlarm)}
	}
	p.Driver = fleet.DriverTag(in.DriverTag)
	return readSignals(in.Signals, p)
}

func readMeasurements(raw json.RawMessage, it *item) *fleet.FieldError {
	var in IngestTelemetry
	if f := decodeItem(raw, &in); f != nil {
		return f
	}
	if f := it.name(in.DeviceID, in.UniqueID); f != nil {
		return f
	}
	it.report = fleet.NewReport()
	var f *fleet.FieldError
	if it.report.FixTime, f = readFixTime("/at", in.At); f != nil {
		return f
	}
	it.report.Driver = fleet.DriverTag(in.Driver)
	if len(in.Signals) == 0 && it.report.Driver == "" {
		return &fleet.FieldError{Pointer: "/signals", Code: "required", Detail: "must hold at least one measurement"}
	}
	return readSignals(in.Signals, &it.report)
}

// name notes who the item says it is from.
func (it *item) name(deviceID, uniqueID string) *fleet.FieldError {
	if deviceID == "" && uniqueID == "" {
		return &fleet.FieldError{Pointer: "/device_id", Code: "required", Detail: "device_id or unique_id must be given"}
	}
	if deviceID != "" {
		id, err := fleet.ParseID(fleet.DevicePrefix, deviceID)
		if err != nil {
			return &fleet.FieldError{Pointer: "/device_id", Code: string(fleet.CodeNotFound), Detail: "there is no such device"}
		}
		it.device = fleet.DeviceID(id)
	}
	if len(uniqueID) > maxUniqueID {
		return &fleet.FieldError{Pointer: "/unique_id", Code: string(fleet.CodeNotFound), Detail: "there is no such device"}
	}
	it.uniqueID = uniqueID
	return nil
}

// readFixTime reads when something was measured, which must be given, and be a time that a clock can show
// that was ever set.
func readFixTime(pointer string, raw instantInput) (fleet.Millis, *fleet.FieldError) {
	at, f := readInstant(pointer, raw)
	switch {
	case f != nil:
		return 0, f
	case len(raw) == 0 || string(raw) == "null":
		return 0, &fleet.FieldError{Pointer: pointer, Code: string(fleet.RefusedMissingTime), Detail: "must be given"}
	case at < fleet.EarliestFix:
		return 0, &fleet.FieldError{Pointer: pointer, Code: string(fleet.RefusedImplausibleTime),
			Detail: "is before August 1999: so stands a clock that was never set; send nothing until the device has had a fix"}
	}
	return at, nil
}

// readInstant reads RFC 3339 text or a whole number of milliseconds; null and nothing are no time.
func readInstant(pointer string, raw instantInput) (fleet.Millis, *fleet.FieldError) {
	bad := &fleet.FieldError{Pointer: pointer, Code: "invalid",
		Detail: "must be an instant like 2026-01-31T12:00:00Z, or milliseconds since 1970"}
	if len(raw) == 0 || string(raw) == "null" {
		return 0, nil
	}
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return 0, bad
		}
		t, err := fleet.ParseTime(text)
		if err != nil || t.Year() < 1900 || t.Year() > 2200 {
			return 0, bad
		}
		return fleet.MillisOf(t), nil
	}
	var ms int64
	if err := json.Unmarshal(raw, &ms); err != nil || ms < 0 || ms > 7_289_654_400_000 {
		return 0, bad
	}
	if ms > 1e8 && ms < 1e11 { // 1970 to 1973 in milliseconds, 1973 to 5138 in seconds
		bad.Detail = "seems to be in seconds; give milliseconds since 1970"
		return 0, bad
	}
	return fleet.Millis(ms), nil
}

// amount is a quantity in one of several units.
type amount struct {
	value *float64
	unit  float64 // in SI
	name  string
}

// oneOf returns the one amount that is given in SI, and NaN for none; two that may contradict each other are refused.
func oneOf(amounts ...amount) (float64, *fleet.FieldError) {
	value, given := math.NaN(), ""
	for _, a := range amounts {
		if a.value == nil {
			continue
		}
		if given != "" {
			return 0, &fleet.FieldError{Pointer: "/" + a.name, Code: "ambiguous", Detail: "cannot be combined with " + given}
		}
		value, given = *a.value*a.unit, a.name
	}
	return value, nil
}

func readSignals(in map[string]signalInput, r *fleet.Report) *fleet.FieldError {
	for name, v := range in {
		s, ok := fleet.SignalNamed(name)
		if !ok {
			return &fleet.FieldError{Pointer: "/signals/" + name, Code: "unknown_signal",
				Detail: name + " is no signal of the catalogue" + rest.DidYouMean(name, rest.SignalNames())}
		}
		if !s.Accepts(float64(v)) {
			spec := s.Spec()
			return &fleet.FieldError{Pointer: "/signals/" + name, Code: "out_of_range",
				Detail: fleet.Between(spec.Min, spec.Max) + " " + spec.Unit}
		}
		r.Signals = append(r.Signals, fleet.SignalValue{Signal: s, Value: float64(v)})
	}
	return nil
}

// OrNaN returns a number, or NaN if it is absent.
func OrNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func triOf(v *bool) fleet.Tri {
	if v == nil {
		return fleet.Unknown
	}
	return fleet.TriOf(*v)
}
