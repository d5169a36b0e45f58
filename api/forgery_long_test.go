//go:build long

package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/ingest"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/topic"
)

// The devices of the forger and of the account that is to be forged.
const (
	ownDevice    = "own-1"
	otherOwn     = "own-2"
	victimDevice = "victim"
)

// dialect is a form in which reports name their device: the members on the way to its name, and the other members.
type dialect struct {
	path []string
	rest string // members, as text
}

var (
	nativeDialect    = dialect{[]string{"device"}, `"fix_at":1769860810000,"lat":1,"lng":1`}
	positionDialect  = dialect{[]string{"unique_id"}, `"fix_at":1769860810000,"lat":1,"lng":1`}
	telemetryDialect = dialect{[]string{"unique_id"}, `"at":1769860810000,"signals":{"soc_pct":50}`}
	traccarDialect   = dialect{[]string{"device", "uniqueId"},
		`"position":{"fixTime":1769860810000,"latitude":1,"longitude":1,"attributes":{"odometer":7,"alarm":"sos"}}`}
	osmandDialect = dialect{[]string{"device_id"},
		`"location":{"timestamp":1769860810000,"coords":{"latitude":1,"longitude":1}}`}
)

// named writes the member that names a device, whose value is JSON.
func (d dialect) named(value string) string { return member(d.path, value) }

func member(path []string, value string) string {
	text := value
	for i := len(path) - 1; i >= 0; i-- {
		text = `"` + path[i] + `":` + text
		if i > 0 {
			text = "{" + text + "}"
		}
	}
	return text
}

// honest is a report of a device.
func (d dialect) honest(name string) string { return "{" + d.named(`"`+name+`"`) + "," + d.rest + "}" }

// forms are bodies that name the forger's device and somehow the victim's too, or only the victim's, by what is tried.
func (d dialect) forms() map[string]string {
	own, victim, forms := `"`+ownDevice+`"`, `"`+victimDevice+`"`, map[string]string{}
	pair := func(name, one, other string) {
		forms[name+" behind"] = "{" + one + "," + d.rest + "," + other + "}"
		forms[name+" before"] = "{" + other + "," + one + "," + d.rest + "}"
	}
	both := func(name, more string) { pair(name, d.named(own), more) }
	for _, name := range []string{"uniqueId", "unique_id", "device", "device_id", "deviceid", "id", "deviceId", "imei"} {
		both("also "+name, `"`+name+`":`+victim)
		both("also "+name+" within", `"device":{"`+name+`":`+victim+`}`)
		both("also "+name+" in the position", `"position":{"`+name+`":`+victim+`,"attributes":{"`+name+`":`+victim+`}}`)
	}
	both("twice", d.named(victim))
	for i := range d.path {
		for spelling, spell := range map[string]func(string) string{
			"capitals": strings.ToUpper, "a capital": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
			"an escape":   func(s string) string { return fmt.Sprintf(`\u%04x`, s[0]) + s[1:] },
			"escapes":     func(s string) string { return strings.ReplaceAll(s, "i", `\u0069`) },
			"a long s":    func(s string) string { return strings.ReplaceAll(s, "s", "\u017f") },
			"a kelvin":    func(s string) string { return strings.ReplaceAll(s, "k", "\u212a") },
			"a blank":     func(s string) string { return s + " " },
			"a NUL":       func(s string) string { return s + `\u0000` },
			"no signs":    func(s string) string { return strings.ReplaceAll(s, "_", "") },
			"a soft sign": func(s string) string { return s + "\u00ad" },
		} {
			path := append([]string(nil), d.path...)
			path[i] = spell(path[i])
			name := fmt.Sprintf("with %s in member %d", spelling, i)
			both(name, member(path, victim))
			pair("own "+name, d.named(victim), member(path, own))
		}
	}
	mine, theirs := d.honest(ownDevice), d.honest(victimDevice)
	for name, form := range map[string]string{
		"the victim's alone": theirs, "an array of both": "[" + mine + "," + theirs + "]",
		"an array within":                 "[[" + theirs + "]]",
		"an array within an array of own": "[" + mine + ",[" + theirs + "]]",
		"a batch of both":                 `{"data":[` + mine + "," + theirs + "]}",
		"two batches":                     `{"data":[` + mine + `],"data":[` + theirs + "]}",
		"two batches that differ in case": `{"data":[` + mine + `],"Data":[` + theirs + "]}",
		"a batch in a batch":              `{"data":[{"data":[` + theirs + "]}]}",
		"a batch in a report":             "{" + d.named(own) + "," + d.rest + `,"data":[` + theirs + "]}",
		"a document behind":               mine + theirs, "a line behind": mine + "\n" + theirs,
		"a document behind a NUL": mine + "\x00" + theirs,
		"a comma behind":          mine + "," + theirs, "a byte order mark": "\ufeff" + theirs,
		"a byte order mark within": "[" + mine + ",\ufeff" + theirs + "]",
		"a comment":                "{/*" + d.named(own) + "*/" + d.named(victim) + "," + d.rest + "}",
		"UTF-16":                   utf16(theirs), "nothing": "", "an end too many": mine + "}",
		"deep arrays": strings.Repeat("[", 20_000) + theirs + strings.Repeat("]", 20_000),
		"deep objects": "{" + d.named(own) + "," + d.rest + `,"x":` +
			strings.Repeat(`{"uniqueId":"victim","device":`, 5000) + `"victim"` + strings.Repeat("}", 5000) + "}",
		"deep within the name": "{" + d.named(strings.Repeat("[", 200)+victim+strings.Repeat("]", 200)) + "," + d.rest + "}",
	} {
		forms[name] = form
	}
	for name, value := range map[string]string{
		"blanks around": `" victim "`, "a tab before": `"\tvictim"`, "a wide blank": `"\u00a0victim\u2003"`,
		"a NUL behind": `"victim\u0000"`, "a NUL between": `"own-1\u0000victim"`,
		"escapes in the name": `"\u0076ictim"`, "a list": `["victim"]`,
		"an object": `{"uniqueId":"victim","device":"victim"}`, "a number": `7`, "nothing": `null`, "truth": `true`,
		"a quote": `"own-1\",\"device\":\"victim"`, "a quote and a brace": `"own-1\"},\"uniqueId\":\"victim"`,
		"a single quote": `"own-1','victim"`, "a backslash": `"own-1\\',\\'victim"`,
		"a line": `"own-1\nvictim"`, "a byte that is no text": "\"victim\xff\"", "half a pair": `"victim\ud800"`,
		"a mark": `"\ufeffvictim"`, "too long": `"` + strings.Repeat(" ", 300) + `victim"`,
		"all members of a text": `"own-1, victim"`, "a wildcard": `"%"`, "capitals": `"VICTIM"`,
	} {
		forms["named as "+name] = "{" + d.named(value) + "," + d.rest + "}"
		forms["named as "+name+" and by its own"] = "{" + d.named(value) + "," + d.named(own) + "," + d.rest + "}"
		forms["named by its own and as "+name] = "{" + d.named(own) + "," + d.named(value) + "," + d.rest + "}"
	}
	return forms
}

func utf16(text string) string {
	out := "\xff\xfe"
	for _, c := range text {
		out += string([]byte{byte(c), byte(c >> 8)})
	}
	return out
}

// forger is an account with devices of its own that knows the unique id of another's.
type forger struct {
	*world
	feed   *feed
	token  string // of its device
	victim string // the id of the device that is not its own
}

func newForger(t *testing.T) *forger {
	w, f := newIntake(t)
	own, forge := w.key, &forger{world: w, feed: f}
	w.key = w.newKey(w.newAccount("Victim"), auth.Admin)
	forge.victim = w.device(victimDevice)
	w.do("POST", "/v1/devices/"+forge.victim+"/osmand_token", "").ok(201)
	w.key = own
	forge.token = w.do("POST", "/v1/devices/"+w.device(ownDevice)+"/osmand_token", "").ok(201).object()["token"].(string)
	w.device(otherOwn)
	return forge
}

// send tries a form, which must not be a fault of ours.
func (f *forger) send(name, method, path, body string, headers ...string) *reply {
	f.t.Helper()
	reply := f.do(method, path, body, headers...)
	if reply.status >= 500 {
		f.t.Errorf("%s: status %d: %s", name, reply.status, reply.body)
	}
	return reply
}

// letter is a dead letter of the forger's account.
type letter struct{ name, uniqueID, format, payload string }

// replay keeps dead letters and has each sent again.
func (f *forger) replay(all []letter) {
	f.t.Helper()
	batch, err := f.db.PrepareBatch(f.t.Context(), `INSERT INTO dead_letters
		(account, id, at, reason, unique_id, source_topic, source_partition, source_offset, source_index, format, payload, payload_bytes)`)
	if err != nil {
		f.t.Fatal(err)
	}
	for i, l := range all {
		if err := batch.Append(uint64(f.account), uint64(i+1), time.Now(), string(fleet.RefusedUnassigned), l.uniqueID,
			ingest.PositionsTopic, uint16(0), uint64(i), uint32(i%2), l.format, l.payload, uint64(len(l.payload))); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		f.t.Fatal(err)
	}
	for i, l := range all {
		f.send(l.format+" "+l.name, "POST", fmt.Sprintf("/v1/dead_letters/dlt_%d/replay", i+1), "")
	}
}

// lastFix is told by the last report of a test: what comes before it on a topic was there to be read.
const lastFix fleet.Millis = 1_769_861_799_000

// published reads a topic up to the last fix, as the pipeline does, and holds the devices against the forger's. It
// returns the reports before that.
func (f *forger) published(from string, byTopic codec.Format) int {
	f.t.Helper()
	decoder, taken := codec.NewDecoder(), 0
	for {
		m := f.feed.next(from)
		format, err := codec.FormatOf(header(m, codec.ContentTypeHeader), byTopic)
		if err != nil {
			f.t.Errorf("%s: %v", m.Value, err)
			continue
		}
		reports, err := decoder.Decode(format, m.Value, nil)
		if err != nil {
			f.t.Errorf("what was published cannot be read: %.200s: %v", m.Value, err)
			continue
		}
		for _, r := range reports {
			if let := topic.AccountOf([]byte(header(m, topic.AccountHeader))); r.FixTime != lastFix && let != f.account {
				f.t.Errorf("a report was let in as one of account %d", let)
			}
			if (r.UniqueID != ownDevice && r.UniqueID != otherOwn) || string(m.Key) != r.UniqueID {
				f.t.Errorf("a report of %q came through under the key %q: %.300s", r.UniqueID, m.Key, m.Value)
			}
			if r.FixTime == lastFix {
				return taken
			}
			taken++
		}
	}
}

func header(m kafka.Message, name string) string {
	for _, h := range m.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}

// end sends the last report on a topic.
func (f *forger) end(topic string) {
	f.t.Helper()
	last := []fleet.Report{fleet.NewReport()}
	last[0].UniqueID, last[0].FixTime = ownDevice, lastFix
	if err := f.feed.Feed.Publish(f.t.Context(), topic, last); err != nil {
		f.t.Fatal(err)
	}
}

// TestNoReportComesInUnderAnothersUniqueID tries to put reports of a device into the account of another, through every
// way in that answers to a key or a token, and reads what came out as the pipeline reads it.
func TestNoReportComesInUnderAnothersUniqueID(t *testing.T) {
	t.Run("positions", func(t *testing.T) {
		f := newForger(t)
		f.tryBodies("/v1/positions", positionDialect)
		for name, body := range map[string]string{
			"device_id of the victim": `{"device_id":"` + f.victim + `",` + positionDialect.rest + `}`,
			"device_id beside an own name": `{"device_id":"` + f.victim + `","unique_id":"own-1",` +
				positionDialect.rest + `}`,
			"device_id twice": `{"device_id":"` + f.victim + `","Device_ID":"dev_1",` +
				positionDialect.rest + `}`,
			"a small batch of both accounts": `[{"device_id":"` + f.victim + `",` + positionDialect.rest + `},` +
				positionDialect.honest(otherOwn) + `]`,
		} {
			f.send(name, "POST", "/v1/positions", body)
		}
		f.came(ingest.PositionsTopic, codec.JSON)
	})
	t.Run("telemetry", func(t *testing.T) {
		f := newForger(t)
		f.tryBodies("/v1/telemetry", telemetryDialect)
		f.came(ingest.TelemetryTopic, codec.JSON)
	})
	t.Run("traccar", func(t *testing.T) {
		f := newForger(t)
		f.tryBodies("/v1/positions/traccar", traccarDialect)
		f.came(ingest.PositionsTopic, codec.JSON)
	})
	t.Run("osmand", func(t *testing.T) {
		f := newForger(t)
		f.tryOsmand()
		f.end(ingest.TelemetryTopic)
		f.published(ingest.TelemetryTopic, codec.JSON)
		f.came(ingest.PositionsTopic, codec.JSON)
	})
	t.Run("replay of dead letters", func(t *testing.T) {
		f := newForger(t)
		var all []letter
		for format, d := range map[string]dialect{"json": nativeDialect, "traccar": traccarDialect} {
			for name, payload := range d.forms() {
				all = append(all, letter{name, ownDevice, format, payload})
			}
			honest := letter{"honest", ownDevice, format, d.honest(ownDevice)}
			// The device was the forger's when its record was refused, and is another's by now.
			all = append(all, letter{"of a device that was moved", victimDevice, format, d.honest(victimDevice)},
				letter{"of no device", "", format, d.honest(victimDevice)}, honest, honest)
		}
		r := []fleet.Report{fleet.NewReport(), fleet.NewReport()}
		r[0].UniqueID, r[1].UniqueID = ownDevice, victimDevice
		payload, err := codec.EncodeArrow(r)
		if err != nil {
			t.Fatal(err)
		}
		table := letter{"table of both", ownDevice, "arrow", string(payload)}
		f.replay(append(all, table, table))
		f.end(ingest.TelemetryTopic)
		f.published(ingest.TelemetryTopic, codec.JSON)
		f.came(ingest.PositionsTopic, codec.JSON)
	})
}

// tryBodies posts every form of a dialect, and an honest report.
func (f *forger) tryBodies(path string, d dialect) {
	f.t.Helper()
	for name, body := range d.forms() {
		f.send(name, "POST", path, body)
	}
	f.do("POST", path, d.honest(ownDevice)).ok(202)
	var reply ingest.IngestReply
	if err := json.Unmarshal(f.do("POST", path, "["+d.honest(victimDevice)+","+d.honest(otherOwn)+"]").ok(202).body,
		&reply); err != nil ||
		reply.Accepted != 1 || reply.Data[0].Code != "not_found" {
		f.t.Errorf("a batch of two accounts: %+v, %v", reply, err)
	}
}

// came ends a topic, and expects that the honest reports of it came through and nothing of the victim.
func (f *forger) came(topic string, byTopic codec.Format) {
	f.t.Helper()
	f.end(topic)
	if n := f.published(topic, byTopic); n < 2 {
		f.t.Errorf("%d reports came through: the honest ones are missing", n)
	}
}

// tryOsmand sends what a phone with the token of its own device might make up.
func (f *forger) tryOsmand() {
	f.t.Helper()
	bearer := []string{"Authorization", "Bearer " + f.token}
	for name, body := range osmandDialect.forms() {
		f.send(name, "POST", "/osmand", body, bearer...)
		f.send(name, "POST", "/osmand?id="+ownDevice, body, bearer...)
		f.send(name, "POST", "/osmand?id="+victimDevice, body, bearer...)
		f.clock.Add(int64(time.Minute)) // so that nobody is stopped for reporting too often
	}
	place, form := "&lat=1&lon=1&token="+f.token, "application/x-www-form-urlencoded"
	for _, ids := range []string{
		"id=own-1&id=victim", "id=victim&id=own-1", "id=own-1&deviceid=victim", "deviceid=victim&device_id=own-1",
		"ID=victim&id=own-1", "id=own-1&uniqueId=victim", "id=&id=victim", "id=%20victim%20", "id=victim%00",
		"id=own-1%00victim", "id=own-1%22,%22device%22:%22victim", "id=own-1%27%2C%27victim", "id=own-1%0avictim",
		"id=victim%ff", "id[]=victim&id=own-1", "id=own-1;id=victim", "id=own-1%26id=victim", "%69d=victim&id=own-1",
		"id=own-1&location=1,1&device=victim", "id=victim", "id=VICTIM",
	} {
		f.send(ids, "GET", "/osmand?"+ids+place, "", "Authorization", "")
		f.send(ids, "POST", "/osmand", ids+place, "Content-Type", form, "Authorization", "")
		f.send(ids, "POST", "/osmand?id=own-1", ids+place, "Content-Type", form, "Authorization", "")
		f.send(ids, "POST", "/osmand?"+ids, "id=victim"+place, "Content-Type", form, "Authorization", "")
		f.send(ids, "POST", "/osmand?"+ids,
			`{"device_id":"own-1","location":{"coords":{"latitude":1,"longitude":1}}}`, bearer...)
		f.clock.Add(int64(time.Minute))
	}
	for range 2 {
		f.do("GET", "/osmand?id=own-1&lat=1&lon=1&token="+url.QueryEscape(f.token), "", "Authorization", "").ok(200)
	}
}
