package stream

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet/loadtest/system/systemtest"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }

// TestEverybodyGetsEverythingBesideAStalledClient is the run of "loadtest stream", smaller.
func TestEverybodyGetsEverythingBesideAStalledClient(t *testing.T) {
	if systemtest.SharedKafka() != "" {
		t.Log("the broker is shared: its topic of events may be another run's, too")
	}
	s := systemtest.Start(t)
	serve, err := s.Start("serve")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	result, err := Run(ctx, s, serve.PID(), Options{Connections: 200, Events: 50, Every: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if result.Received != 200*50 {
		t.Errorf("%d events were received", result.Received)
	}
	var text strings.Builder
	if err := result.Write(&text); err != nil {
		t.Fatal(err)
	}
	t.Log(text.String())
	if _, _, err := serve.Stop(); err != nil { // with all the streams gone, and one that never took anything
		t.Error(err)
	}
}

// TestTraccarReachesTheMap puts what Traccar's two forwarders send, in its whole form, on the topic and on the HTTP
// interface, and looks for the positions.
func TestTraccarReachesTheMap(t *testing.T) {
	s := systemtest.Start(t)
	systemtest.Process(t, s, "serve")
	systemtest.Process(t, s, "ingest")
	text, err := os.ReadFile("../../schemas/topics/examples/traccar.json")
	if err != nil {
		t.Fatal(err)
	}
	key, err := s.Output("key", "create", "--account", "Acme", "--scopes", "admin")
	if err != nil {
		t.Fatal(err)
	}
	do := func(method, path, body string, into any) {
		t.Helper()
		if err := call(t.Context(), s.URL(), key, method, path, body, into); err != nil {
			t.Fatal(err)
		}
	}
	register := func(unique string) {
		t.Helper()
		var vehicle, device struct{ ID string }
		do(http.MethodPost, "/v1/vehicles", `{"make":"Ford","model":"Transit"}`, &vehicle)
		do(http.MethodPost, "/v1/devices", `{"unique_id":"`+unique+`"}`, &device)
		do(http.MethodPost, "/v1/devices/"+device.ID+"/assign", `{"vehicle_id":"`+vehicle.ID+`","from":null}`, nil)
	}
	register("352093081234567")
	register("by-http")
	// Some of the example is doubtful, which keeps a position off the map: it says valid false.
	good := strings.Replace(string(text), `"valid": false`, `"valid": true`, 1)

	writer := &kafka.Writer{Addr: kafka.TCP(s.Kafka()), Topic: "traccar.positions", RequiredAcks: kafka.RequireAll,
		BatchTimeout: time.Millisecond}
	defer writer.Close()
	if err := writer.WriteMessages(t.Context(), kafka.Message{Key: []byte("17"), Value: []byte(good)}); err != nil {
		t.Fatal(err)
	}
	do(http.MethodPost, "/v1/positions/traccar", strings.ReplaceAll(good, "352093081234567", "by-http"), nil)

	for deadline := time.Now().Add(2 * time.Minute); ; pause(t.Context(), 100*time.Millisecond) {
		var latest struct {
			Data []struct{ Lat, Lng float64 }
		}
		do(http.MethodGet, "/v1/positions/latest", "", &latest)
		if len(latest.Data) == 2 {
			for _, p := range latest.Data {
				if p.Lat != 48.1371543 || p.Lng != 11.5754016 {
					t.Errorf("a position is at %+v", p)
				}
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of 2 positions are on the map", len(latest.Data))
		}
	}
}
