package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/topic"
)

func TestSpeeds(t *testing.T) {
	for text, want := range map[string]float64{"max": 0, "original": 1, "10x": 10, "0.5x": 0.5} {
		if got, err := parseSpeed(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "10", "-1x", "0x", "NaNx", "infx", "fast", "10X"} {
		if got, err := parseSpeed(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// sending is a replay of a text whose rows are noted instead of sent.
func sending(t *testing.T, command *replayCommand, text string, note func([]topic.Message) error) *replay {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command.Files = []string{path}
	speed, err := parseSpeed(command.Speed)
	if err != nil {
		t.Fatal(err)
	}
	found, err := scan(t.Context(), command.Files, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return &replay{
		replayCommand: command, speed: speed, run: "replay-test", scanned: found, out: output{io.Discard, io.Discard},
		unique:  map[string]string{"7": "acc_1:7"},
		publish: func(_ context.Context, messages []topic.Message) error { return note(messages) },
	}
}

func decoded(t *testing.T, messages []topic.Message) []fleet.Report {
	t.Helper()
	var reports []fleet.Report
	for _, m := range messages {
		if m.Run != "replay-test" || m.ContentType != codec.ContentTypeJSON {
			t.Errorf("message = %+v", m)
		}
		var err error
		if reports, err = codec.NewDecoder().Decode(codec.JSON, m.Value, reports); err != nil {
			t.Fatal(err)
		}
		if string(m.Key) != reports[len(reports)-1].UniqueID {
			t.Errorf("key %q of %s", m.Key, m.Value)
		}
	}
	return reports
}

const jumbled = "vehicle,timestamp,lat,lng\n" +
	"7,2017-03-21T05:00:20Z,3,0.5\n7,2017-03-21T05:00:00Z,1,0.5\n8,,2,0.5\n7,2017-03-21T05:00:10Z,,0.5\n"

// TestEveryRowIsSentAsItWasRead: in file order, with its warts, under the unique id of its device.
func TestEveryRowIsSentAsItWasRead(t *testing.T) {
	var messages []topic.Message
	r := sending(t, &replayCommand{Speed: "max"}, jumbled, func(m []topic.Message) error {
		messages = append(messages, m...)
		return nil
	})
	if err := r.send(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := decoded(t, messages)
	if len(all) != 4 || r.sent != 4 {
		t.Fatalf("%d rows, %d sent", len(all), r.sent)
	}
	for i, want := range []struct {
		unique string
		at     fleet.Millis
	}{{"acc_1:7", 1490072420000}, {"acc_1:7", 1490072400000}, {"8", 0}, {"acc_1:7", 1490072410000}} {
		if all[i].UniqueID != want.unique || all[i].FixTime != want.at || !all[i].Positioned {
			t.Errorf("row %d = %+v", i, all[i])
		}
	}
	if all[3].Lat == all[3].Lat {
		t.Errorf("a row without a latitude has %v", all[3].Lat)
	}
}

// TestAPacedReplayKeepsTime: at ten times the speed, in the order of time, each row when its turn comes, moved to now.
func TestAPacedReplayKeepsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var sentAt []time.Duration
		var messages []topic.Message
		r := sending(t, &replayCommand{Speed: "10x", ShiftToNow: true}, jumbled, func(m []topic.Message) error {
			for range m {
				sentAt = append(sentAt, time.Since(begin))
			}
			messages = append(messages, m...)
			return nil
		})
		if err := r.send(t.Context()); err != nil {
			t.Fatal(err)
		}
		var lngs []fleet.Millis
		for _, report := range decoded(t, messages) {
			at := report.FixTime
			if at != 0 {
				at -= fleet.MillisOf(begin)
			}
			lngs = append(lngs, at)
		}
		// The row without a time follows the one before it in the file.
		for i, want := range []struct {
			at   fleet.Millis
			sent time.Duration
		}{{0, 0}, {0, 0}, {10_000, time.Second}, {20_000, 2 * time.Second}} {
			if lngs[i] != want.at || sentAt[i] != want.sent {
				t.Errorf("row %d: fix at %d ms, sent after %v; want %+v", i, lngs[i], sentAt[i], want)
			}
		}
	})
}

func TestARateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		rows := strings.Repeat("7,2017-03-21T05:00:20Z,3,0.5\n", 500)
		r := sending(t, &replayCommand{Speed: "max", Rate: 100}, "vehicle,timestamp,lat,lng\n"+rows,
			func([]topic.Message) error { return nil })
		if err := r.send(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took < 4500*time.Millisecond || took > 5500*time.Millisecond {
			t.Errorf("500 rows at 100 a second took %v", took)
		}
	})
}

// TestABrokerThatIsAwayGetsTheRowsAgain: only those that were not acknowledged, in order; a message that is too large
// is hopeless at once.
func TestABrokerThatIsAwayGetsTheRowsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		messages := []topic.Message{{Key: []byte("a")}, {Key: []byte("b")}, {Key: []byte("c")}}
		var got, said bytes.Buffer
		calls := 0
		again, err := insist(t.Context(), messages, func(m []topic.Message) error {
			calls++
			switch calls {
			case 1:
				return errors.New("connection refused")
			case 2:
				got.WriteString("b")
				return &topic.PublishError{Errors: []error{errors.New("x"), nil, errors.New("y")}}
			}
			for _, one := range m {
				got.Write(one.Key)
			}
			return nil
		}, &said)
		if err != nil || again != 5 || got.String() != "bac" || !strings.Contains(said.String(), "connection refused") {
			t.Errorf("again %d, got %q, %v; said %q", again, got.String(), err, said.String())
		}
		large := &topic.PublishError{Errors: []error{topic.ErrTooLarge}}
		if _, err := insist(t.Context(), messages[:1], func([]topic.Message) error { return large }, &said); !errors.Is(err,
			topic.ErrTooLarge) {
			t.Errorf("too large: %v", err)
		}
		begin := time.Now()
		if _, err := insist(t.Context(), messages[:1], func([]topic.Message) error { return errors.New("away") },
			&said); err == nil || time.Since(begin) > insistFor+time.Minute {
			t.Errorf("for ever away: %v after %v", err, time.Since(begin))
		}
	})
}

// TestWhatFollowsIsWaitedForAsLongAsItGetsLess: ten changes that take two minutes each are waited for; one
// that stays is not.
func TestWhatFollowsIsWaitedForAsLongAsItGetsLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		r := &replay{replayCommand: &replayCommand{}, out: output{io.Discard, &said}}
		begin := time.Now()
		if err := r.until(t.Context(), derived, func(context.Context) (int64, error) {
			return 10 - int64(time.Since(begin)/(2*time.Minute)), nil
		}); err != nil || time.Since(begin) < 20*time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if !strings.Contains(said.String(), "waiting until "+derived) {
			t.Errorf("said %q", said.String())
		}
		begin = time.Now()
		err := r.until(t.Context(), derived, func(context.Context) (int64, error) { return 1, nil })
		if !errors.Is(err, errNoPipeline) || time.Since(begin) > waitGiveUp+time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		away := errors.New("connection refused")
		if err := r.until(t.Context(), derived,
			func(context.Context) (int64, error) { return 0, away }); !errors.Is(err, away) {
			t.Errorf("a broker that is away: %v", err)
		}
	})
}

func TestUniqueIDsOfOneFileDifferByAccount(t *testing.T) {
	if a, b := uniqueIDFor(1, "7"), uniqueIDFor(2, "7"); a == b || a != "acc_1:7" {
		t.Errorf("%q, %q", a, b)
	}
	seen := make(map[string]bool)
	for _, identifier := range []string{"7", "7 ", strings.Repeat("x", 200), strings.Repeat("x", 201), "a\nb", "a\tb",
		"ü", "\xff"} {
		unique := uniqueIDFor(1<<60, identifier)
		if len(unique) > 128 || seen[unique] || strings.ContainsAny(unique, "\n\t") {
			t.Errorf("%q becomes %q", identifier, unique)
		}
		seen[unique] = true
	}
}

// TestTracesAreSentWhereAnEndpointIsSet has a collector and looks for the trace of one request.
func TestTracesAreSentWhereAnEndpointIsSet(t *testing.T) {
	none := settings{}
	if wrap, _, err := none.tracing(t.Context()); wrap != nil || err != nil {
		t.Errorf("without an endpoint: %v", err)
	}
	arrived := make(chan string, 8)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- r.Method + " " + r.URL.Path
	}))
	defer collector.Close()
	some := settings{OTLPEndpoint: collector.URL + "/v1/traces"}
	wrap, flush, err := some.tracing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wrapped := wrap(http.NotFoundHandler())
	wrapped.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/vehicles", nil))
	flush()
	if got := <-arrived; got != "POST /v1/traces" {
		t.Errorf("the collector got %s", got)
	}
}
