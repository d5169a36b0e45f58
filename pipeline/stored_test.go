package pipeline

import (
	"math"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/sink"
	"github.com/motorpool/fleet/query"
)

// TestEveryReaderOfAPositionGetsWhatWasStored stores positions of which no two quantities are alike, and reads them by a track,
// as the latest, for the vehicle itself and as the next owner of the partition does.
func TestEveryReaderOfAPositionGetsWhatWasStored(t *testing.T) {
	b := newBench(t)
	nan := math.NaN()
	full := fleet.Position{
		Account: 7, Vehicle: 1, Device: 1001, FixTime: begin + 1, DeviceTime: begin + 2, ReceivedTime: begin + 3, Lat: -48.1234567, Lng: 179.7654321,
		Altitude: -412.3, Speed: 12.34, Course: 359.99, Accuracy: 5.5, Odometer: 4e9, Satellites: 255, Ignition: fleet.Yes, Motion: fleet.No,
		Alarm: "sos,lowBattery", Cell: 617550903642685439, Flags: fleet.FlagMock | fleet.FlagBadSpeed,
	}
	bare := fleet.Position{
		Account: 7, Vehicle: 2, Device: 1002, FixTime: begin + 4, DeviceTime: begin + 5, ReceivedTime: begin + 6, Lat: 90, Lng: -180,
		Altitude: nan, Speed: nan, Course: nan, Accuracy: nan, Odometer: nan, Satellites: -1,
	}
	rows := sink.NewBatch(b.db, "positions", 0)
	stored := []fleet.Position{full, bare}
	for i := range stored {
		rows.Position(&stored[i], int64(i))
		rows.State(&sink.State{Last: stored[i], Newest: stored[i].FixTime}, int64(i))
	}
	if err := rows.Flush(t.Context(), "stored"); err != nil {
		t.Fatal(err)
	}
	if err := rows.FlushStates(t.Context(), "stored"); err != nil {
		t.Fatal(err)
	}
	if err := b.db.Exec(t.Context(), "INSERT INTO vehicles (account, id, revision, created_at, updated_at, body) VALUES "+
		"(7, 1, 1, now(), now(), '{}'), (7, 2, 1, now(), now(), '{}')"); err != nil {
		t.Fatal(err)
	}
	same := func(reader string, got, want fleet.Position) {
		t.Helper()
		if got.Account != want.Account || got.Vehicle != want.Vehicle || got.Stored() != want.Stored() {
			t.Errorf("%s has %+v, want %+v", reader, got, want)
		}
	}
	for _, want := range stored {
		n := 0
		for got, err := range query.Track(t.Context(), b.db, query.TrackFilter{Account: 7, Vehicle: want.Vehicle}) {
			if err != nil {
				t.Fatal(err)
			}
			same("the track", got, want)
			n++
		}
		if n != 1 {
			t.Errorf("%d positions of %s, want 1", n, want.Vehicle)
		}
	}
	latest, err := query.LatestPositions(t.Context(), b.db, query.LatestFilter{Account: 7, Box: query.World, Limit: 10})
	if err != nil || len(latest) != len(stored) {
		t.Fatalf("%d latest positions: %v", len(latest), err)
	}
	for i, want := range stored {
		same("the latest", latest[i].Position, want)
	}

	live, err := query.LiveOf(t.Context(), b.db, 7, []uint64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range append(stored, fleet.Position{Lat: nan, Lng: nan, Speed: nan, Course: nan, Accuracy: nan}) {
		l := live[uint64(i+1)]
		got := []float64{float64(l.FixTime), l.Lat, l.Lng, l.Speed, l.Course, l.Accuracy, float64(l.Ignition)}
		for j, v := range []float64{float64(want.FixTime), want.Lat, want.Lng, want.Speed, want.Course, want.Accuracy, float64(want.Ignition)} {
			if got[j] != v && !(math.IsNaN(got[j]) && math.IsNaN(v)) {
				t.Errorf("vehicle %d is %+v, want %+v", i+1, l, want)
				break
			}
		}
	}

	next := b.chain()
	var vehicles []*vehicle
	for _, want := range stored {
		vehicles = append(vehicles, next.vehicle(vehicleKey{want.Account, want.Vehicle}))
	}
	if err := next.loadStates(t.Context(), vehicles); err != nil {
		t.Fatal(err)
	}
	for i, want := range stored {
		same("the next owner", vehicles[i].state.Last, want)
	}
}
