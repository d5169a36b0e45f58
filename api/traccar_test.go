package api

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/ingest"
)

// TestWhatTraccarPostsIsTaken posts a whole object as Traccar's JSON forwarder writes it, with the header that
// deploy/traccar/README.md sets.
func TestWhatTraccarPostsIsTaken(t *testing.T) {
	w, f := newIntake(t)
	text, err := os.ReadFile("../schemas/topics/examples/traccar.json")
	if err != nil {
		t.Fatal(err)
	}
	w.do("POST", "/v1/positions/traccar", string(text)).problem(422, "validation_failed") // nobody knows the device
	w.device("352093081234567")
	r := w.do("POST", "/v1/positions/traccar", string(text), "Authorization",
		"Bearer "+w.newKey(w.account, auth.TelematicsWrite)).ok(202)
	if r.object()["accepted"] != 1.0 {
		t.Errorf("answered %s", r.body)
	}
	p := f.report(ingest.PositionsTopic)
	if p.UniqueID != "352093081234567" || p.Lat != 48.1371543 || p.Lng != 11.5754016 ||
		p.FixTime.Time().Format("15:04:05.000") != "09:15:01.500" || math.Abs(p.Speed-27.5*fleet.MetresPerKnot) > 1e-9 ||
		p.Ignition != fleet.Yes {
		t.Errorf("%+v", p)
	}
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	w.do("POST", "/v1/positions/traccar", string(text)).problem(422, "validation_failed")
}

func TestTraccarItemsAreJudgedOneByOne(t *testing.T) {
	w, f := newIntake(t)
	w.device("a")
	reply := w.do("POST", "/v1/positions/traccar",
		`[{"position":{"latitude":1}},{"device":{"uniqueId":5}},{"position":{"latitude":1},"device":{"uniqueId":"b"}},{"device":7},
		{"event":{"type":"deviceOnline"},"device":{"uniqueId":"a"}},
		{"position":{"fixTime":"2026-01-31T09:15:01.500+00:00","latitude":1,"longitude":2},"device":{"uniqueId":"a"}}]`).ok(202)
	var got ingest.IngestReply
	if err := json.Unmarshal(reply.body, &got); err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, item := range got.Data {
		codes = append(codes, item.Status+item.Code)
	}
	wantEqual(t, "items", strings.Join(codes, " "),
		"rejectedrequired rejectedrequired rejectednot_found rejectedrequired rejectedrequired accepted")
	if m := f.next(ingest.PositionsTopic); string(m.Key) != "a" {
		t.Errorf("published under %s", m.Key)
	}
}
