package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Limits of the OsmAnd intake. The burst of a device lets a phone that was offline send what it kept.
const (
	osmandPerSecond   = 20
	OsmandBurst       = 600
	OsmandBody        = 64 << 10
	OsmandFailsPerMin = 30     // of one client address, before its devices are even looked up
	OsmandRemember    = 20_000 // devices in memory
	TrackerTime       = 5 * time.Second
)

func (a *API) osmandRoutes() {
	words := "The protocol of OsmAnd and of the Traccar Client, in its form (query string or form body) and in its JSON. The device names itself by `id` (or `deviceid`, `device_id`), " +
		"which is its `unique_id`, and proves it by its token: in `token` or `key`, as a bearer token, or as the password of basic authentication. " +
		"The answer comes when Kafka has acknowledged. What the report says is judged later, so that a phone does not send the same bad fix for ever: see `/v1/dead_letters`. " +
		"Another parameter that is named as one of `/v1/signals`, other than odometer_m, is kept as that signal if its value is possible."
	intake := NewOsmandIntake(a)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		rt := rest.Route{
			Method: method, Path: "/v1/osmand", Also: "/osmand", ID: strings.ToLower(method) + "Osmand", Tag: "Ingest",
			Public: true, Missing: true, AnyParams: true, Scheme: rest.DeviceTokenScheme,
			Summary: "Report a position by the OsmAnd protocol", About: words, Timeout: a.Config.WriteTime,
			Params: []rest.Param{
				{Name: "id", About: "Unique id of the device."}, {Name: "token", About: "Token of the device."},
				{Name: "lat"}, {Name: "lon"},
				{Name: "timestamp", About: "Seconds or milliseconds since 1970, or RFC 3339; now unless given."},
				{Name: "speed", About: "Knots."}, {Name: "bearing", About: "Degrees."}, {Name: "altitude", About: "Metres."},
				{Name: "accuracy", About: "Metres."}, {Name: "batt", About: "Percent of the phone's battery."},
				{Name: "driverUniqueId", About: "Key, card or tag of who is logged in; 0 for nobody."},
			},
		}
		if method == http.MethodPost {
			rt.Body, rt.BodyLimit, rt.Optional = OsmandMessage{}, OsmandBody, true
			rt.BodyTypes = []string{"application/json", "application/x-www-form-urlencoded", "text/plain"}
		}
		a.Handle(rt, intake.serve)
	}
}

// OsmandMessage is the JSON form.
type OsmandMessage struct {
	DeviceID string         `json:"device_id"`
	Location osmandLocation `json:"location"`
}

type osmandLocation struct {
	Timestamp instantInput `json:"timestamp,omitempty"`
	Coords    struct {
		Latitude  *float64 `json:"latitude,omitempty"`
		Longitude *float64 `json:"longitude,omitempty"`
		Accuracy  *float64 `json:"accuracy,omitempty"`
		Speed     *float64 `json:"speed,omitempty" doc:"Metres per second; negative is unknown."`
		Heading   *float64 `json:"heading,omitempty"`
		Altitude  *float64 `json:"altitude,omitempty"`
	} `json:"coords"`
	IsMoving *bool    `json:"is_moving,omitempty"`
	Odometer *float64 `json:"odometer,omitempty" doc:"Metres."`
	Mock     *bool    `json:"mock,omitempty"`
	Alarm    string   `json:"alarm,omitempty"`
	Battery  struct {
		Level      *float64 `json:"level,omitempty" doc:"0 to 1."`
		IsCharging *bool    `json:"is_charging,omitempty"`
	} `json:"battery,omitempty"`
	Extras map[string]any `json:"extras,omitempty"`
}

// osmandIntake knows the devices that report, and how often they did.
type osmandIntake struct {
	api  *API
	door *auth.Doorkeeper[query.Tracker] // by their unique ids

	mu      sync.Mutex // guards what follows
	Devices map[fleet.DeviceID]*rate.Limiter
}

// NewOsmandIntake makes the intake of messages of OsmAnd, which knows no tracker yet.
func NewOsmandIntake(a *API) *osmandIntake {
	// The doorkeeper remembers who has proved to be a device, and leaves it to the API how long that holds.
	rules := auth.Config{CacheSize: OsmandRemember, Failures: OsmandFailsPerMin, Window: time.Minute}
	// A device that does not exist has no token.
	find := func(ctx context.Context, uniqueID string) (query.Tracker, error) {
		found, err := a.phones.find(ctx, uniqueID)
		return found[uniqueID], err
	}
	proves := func(token string, tracker query.Tracker) bool { return auth.Matches(token, tracker.TokenSHA256) }
	return &osmandIntake{api: a, door: auth.NewDoorkeeper(rules, find, proves, a.Now),
		Devices: map[fleet.DeviceID]*rate.Limiter{}}
}

func (o *osmandIntake) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return fleet.NewError(rest.CodeMethod, "HEAD would report a position without an answer; use GET or POST.")
	}
	report, params, err := readOsmand(r, o.api.Now())
	if err != nil {
		return err
	}
	tracker, err := o.admit(w, r, report.UniqueID, params)
	if err != nil {
		return err
	}
	report.UniqueID = tracker.UniqueID
	if err := o.api.SpendBytes(w, tracker.Account, len(r.URL.RawQuery)+len(rest.RequestBody(r))); err != nil {
		return err
	}
	if err := o.api.carryReport(w, tracker.Account, &report); err != nil {
		return err
	}
	topic := PositionsTopic
	if !report.Positioned {
		topic = TelemetryTopic
	}
	// A message that says nothing keeps a phone's connection alive, and is no data.
	if report.Positioned || len(report.Signals) > 0 || report.Driver != "" || report.Ignition != fleet.Unknown ||
		!math.IsNaN(report.Odometer) {
		if err := o.api.publish(r.Context(), tracker.Account, topic, []fleet.Report{report}); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// admit finds the device if the token is its own. A device that does not exist, one without a token and a wrong token
// are answered alike, so that nobody learns which ids are in use.
func (o *osmandIntake) admit(w http.ResponseWriter, r *http.Request, uniqueID string,
	params url.Values) (query.Tracker, error) {
	token := osmandToken(r, params)
	if token == "" {
		o.api.Challenge(w, "")
		return query.Tracker{}, fleet.NewError(fleet.CodeUnauthorized,
			"Send the device's token as the parameter token, or in the Authorization header.")
	}
	tracker, err := o.door.Admit(r.Context(), uniqueID, token, o.api.ClientAddr(r))
	switch {
	case errors.Is(err, auth.ErrThrottled):
		w.Header().Set("Retry-After", "60")
		return query.Tracker{}, fleet.NewError(fleet.CodeRateLimited,
			"Too many reports of unknown devices from your address. Wait a minute.")
	case errors.Is(err, auth.ErrUnknownKey):
		return query.Tracker{}, fleet.NewError(fleet.CodeNotFound, "There is no device with this id and token.")
	case err != nil:
		return query.Tracker{}, err
	}
	if !o.Allow(tracker.ID) {
		w.Header().Set("Retry-After", "1")
		return query.Tracker{}, fleet.NewError(fleet.CodeRateLimited, "The device reports too often.")
	}
	return tracker, nil
}

// Allow takes one report from a device's bucket.
func (o *osmandIntake) Allow(id fleet.DeviceID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	bucket := o.Devices[id]
	if bucket == nil {
		if len(o.Devices) >= OsmandRemember {
			clear(o.Devices)
		}
		bucket = rate.NewLimiter(osmandPerSecond, OsmandBurst)
		o.Devices[id] = bucket
	}
	return bucket.AllowN(o.api.Now(), 1)
}

// osmandToken finds the credential of the device, wherever its program lets one put it.
func osmandToken(r *http.Request, params url.Values) string {
	for _, name := range []string{"token", "key"} {
		if v := params.Get(name); v != "" {
			return v
		}
	}
	if token, ok := rest.Bearer(r); ok {
		return token
	}
	_, password, _ := r.BasicAuth()
	return password
}

// readOsmand reads a request of either form. Only one that names no device or is broken is an error.
func readOsmand(r *http.Request, now time.Time) (fleet.Report, url.Values, error) {
	params := r.URL.Query()
	body := rest.RequestBody(r)
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var report fleet.Report
	switch {
	case len(body) > 0 && mediaType == "application/json":
		var err error
		if report, err = readOsmandJSON(body); err != nil {
			return report, params, err
		}
	case len(body) > 0:
		form, err := url.ParseQuery(strings.TrimSpace(string(body)))
		if err != nil {
			return report, params, fleet.NewError(fleet.CodeInvalid,
				"The body is no form: it must be percent-encoded pairs joined by &.")
		}
		for name, values := range form {
			params[name] = append(params[name], values...)
		}
		fallthrough
	default:
		report = readOsmandForm(params)
	}
	if report.UniqueID == "" {
		report.UniqueID = firstOf(params, "id", "deviceid", "device_id")
	}
	if report.UniqueID == "" || len(report.UniqueID) > maxUniqueID {
		return report, params, fleet.NewError(fleet.CodeInvalid, "The report names no device: send its unique id as id.")
	}
	if len(report.Alarm) > maxAlarm {
		report.Alarm = "" // no alarm of any program, and a record with it might be larger than Kafka takes
	}
	if report.FixTime == -1 {
		report.FixTime = fleet.MillisOf(now)
	}
	return report, params, nil
}

func firstOf(params url.Values, names ...string) string {
	for _, name := range names {
		if v := strings.TrimSpace(params.Get(name)); v != "" {
			return v
		}
	}
	return ""
}

// osmandSignals gives the signal of parameters that carry one, by the names that Traccar knows, in the signal's unit.
// Names of the catalogue are taken too.
var osmandSignals = map[string]string{
	"batt": "device_battery_pct", "charge": "device_charging", "hdop": "hdop", "vdop": "vdop", "pdop": "pdop",
	"rssi": "rssi_dbm",
	"rpm":  "engine_rpm", "throttle": "throttle_pct", "engineLoad": "engine_load_pct", "coolantTemp": "coolant_temp_c",
	"fuelLevel": "fuel_level_pct", "fuel": "fuel_level_l", "fuelUsed": "fuel_used_l", "power": "battery_v",
	"battery":    "device_battery_v",
	"deviceTemp": "device_temp_c", "humidity": "humidity_pct", "steps": "steps", "heartRate": "heart_rate_bpm",
	"door":  "door_open",
	"armed": "armed", "blocked": "blocked", "soc": "soc_pct",
}

// readOsmandForm reads the parameters of the form. A value that is no number is as if it were not there; a missing
// timestamp is -1, which means now.
func readOsmandForm(params url.Values) fleet.Report {
	r := fleet.NewReport()
	r.UniqueID = firstOf(params, "id", "deviceid", "device_id")
	lat, lng := params.Get("lat"), firstOf(params, "lon", "lng")
	if place := params.Get("location"); place != "" && lat == "" && lng == "" {
		lat, lng, _ = strings.Cut(place, ",")
	}
	r.Positioned = lat != "" || lng != ""
	r.Lat, r.Lng = number(lat), number(lng)
	r.FixTime = osmandTime(params.Get("timestamp"))
	r.Speed = atLeastZero(number(params.Get("speed"))) * fleet.MetresPerKnot
	r.Course = atLeastZero(number(firstOf(params, "bearing", "heading")))
	r.Altitude = number(params.Get("altitude"))
	r.Accuracy = atLeastZero(number(params.Get("accuracy")))
	r.Odometer = atLeastZero(number(params.Get("odometer")))
	if n := number(params.Get("sat")); n >= 0 && n < 200 {
		r.Satellites = int(n)
	}
	r.Invalid = truth(params.Get("valid")) == fleet.No
	r.Mock = truth(params.Get("mock")) == fleet.Yes
	r.Ignition, r.Motion = truth(params.Get("ignition")), truth(params.Get("motion"))
	r.Alarm = params.Get("alarm")
	r.Driver = fleet.DriverTag(firstOf(params, "driverUniqueId", "driver_tag"))
	for name, values := range params {
		if len(values) > 0 {
			addSignal(&r, name, values[0])
		}
	}
	return r
}

// readOsmandJSON reads the JSON form, in which speed is in metres per second.
func readOsmandJSON(body []byte) (fleet.Report, error) {
	r := fleet.NewReport()
	var m struct {
		DeviceID any             `json:"device_id"`
		Location json.RawMessage `json:"location"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return r, rest.BadJSON(err)
	}
	switch id := m.DeviceID.(type) {
	case string:
		r.UniqueID = strings.TrimSpace(id)
	case float64:
		r.UniqueID = strconv.FormatFloat(id, 'f', -1, 64)
	}
	r.FixTime = -1
	if len(m.Location) == 0 || string(m.Location) == "null" {
		return r, nil
	}
	var l osmandLocation
	if err := json.Unmarshal(m.Location, &l); err != nil {
		return r, fleet.NewError(fleet.CodeInvalid,
			"The location cannot be read: a member has another type than the protocol says.")
	}
	r.Positioned = l.Coords.Latitude != nil || l.Coords.Longitude != nil
	r.Lat, r.Lng = OrNaN(l.Coords.Latitude), OrNaN(l.Coords.Longitude)
	if text := strings.Trim(string(l.Timestamp), `"`); text != "null" {
		r.FixTime = osmandTime(text)
	}
	r.Speed, r.Course = atLeastZero(OrNaN(l.Coords.Speed)), atLeastZero(OrNaN(l.Coords.Heading))
	r.Altitude, r.Accuracy = OrNaN(l.Coords.Altitude), atLeastZero(OrNaN(l.Coords.Accuracy))
	r.Odometer = atLeastZero(OrNaN(l.Odometer))
	r.Motion = triOf(l.IsMoving)
	r.Mock = l.Mock != nil && *l.Mock
	for name, v := range l.Extras {
		switch v := v.(type) {
		case float64:
			addSignal(&r, name, strconv.FormatFloat(v, 'g', -1, 64))
		case bool:
			if name == "ignition" {
				r.Ignition = fleet.TriOf(v)
			}
			addSignal(&r, name, strconv.FormatBool(v))
		case string:
			switch name {
			case "alarm":
				r.Alarm = v
			case "driverUniqueId", "driver_tag":
				r.Driver = fleet.DriverTag(v)
			}
			addSignal(&r, name, v)
		}
	}
	if l.Alarm != "" {
		r.Alarm = l.Alarm
	}
	if l.Battery.Level != nil {
		addSignal(&r, "device_battery_pct", strconv.FormatFloat(100**l.Battery.Level, 'g', -1, 64))
	}
	if l.Battery.IsCharging != nil {
		addSignal(&r, "device_charging", strconv.FormatBool(*l.Battery.IsCharging))
	}
	return r, nil
}

// addSignal adds a measurement if its name is known and its value possible.
func addSignal(r *fleet.Report, name, text string) {
	if known, ok := osmandSignals[name]; ok {
		name = known
	}
	s, ok := fleet.SignalNamed(name)
	if !ok || name == "odometer_m" || name == "ignition" || name == "motion" {
		return // these have members of their own
	}
	v := number(text)
	switch truth(text) {
	case fleet.Yes:
		v = 1
	case fleet.No:
		v = 0
	}
	if !s.Accepts(v) {
		return
	}
	for _, m := range r.Signals {
		if m.Signal == s {
			return
		}
	}
	r.Signals = append(r.Signals, fleet.SignalValue{Signal: s, Value: v})
}

// osmandTime reads seconds or milliseconds since 1970 (what is below 2³¹-1 is seconds), or RFC 3339. Nothing is -1,
// for now. A time without an offset is no time: it could be any zone's.
func osmandTime(text string) fleet.Millis {
	text = strings.TrimSpace(text)
	if text == "" {
		return -1
	}
	if v := number(text); v >= 0 && v < 1e14 {
		if v < math.MaxInt32 {
			v *= 1000
		}
		return fleet.Millis(math.Round(v))
	}
	t, err := rest.ParseInstant(text)
	if err != nil {
		return 0
	}
	return fleet.MillisOf(t)
}

// number reads a finite number; anything else is NaN.
func number(text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

// atLeastZero turns negative numbers, by which phones say that they do not know, into NaN.
func atLeastZero(v float64) float64 {
	if v < 0 {
		return math.NaN()
	}
	return v
}

func truth(text string) fleet.Tri {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		return fleet.Yes
	case "false", "0", "no", "off":
		return fleet.No
	}
	return fleet.Unknown
}
