package query

import (
	"context"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// OdometerTrack is how an odometer was worked out that nobody has read since: what it was when it was read last, and
// what the vehicle's trips have driven since then.
type OdometerTrack struct {
	Read   float64 // miles
	ReadAt fleet.Millis
	From   string  // the source of that reading
	Driven float64 // miles since
	Guess  float64 // of these, on ways that nobody recorded
	Error  float64 // miles by which the odometer may differ from the sum, either way
}

// How far a track may be off. Corners are cut between fixes and odometers are made to show a little more
// than was driven.
const (
	usualTrackError = 0.03 // of the way that was recorded, where nothing was learnt
	leastTrackError = 0.01 // of it, however well the track fits
	readingError    = 1.0  // mile: readings are of whole ones
	tellingMiles    = 20.0 // between two readings, and recorded of them, for these to say something
)

// trackPoint is a reading, and the miles of the trips from it to the next, or to now.
type trackPoint struct {
	at             time.Time
	mi             float64
	miles, guessed float64
}

// trackOf works out an odometer by its readings, in order of time; first is the begin of the first trip known. A
// tracker that was there before two readings shows by the way between them how far it is off on the ways that it
// recorded; of those that nobody recorded all may be wrong, whatever was learnt.
func trackOf(points []trackPoint, first time.Time) OdometerTrack {
	last := points[len(points)-1]
	t := OdometerTrack{Read: last.mi, ReadAt: fleet.MillisOf(last.at), Driven: last.miles, Guess: last.guessed}
	var recorded, off float64
	for i := range len(points) - 1 {
		way := points[i+1].mi - points[i].mi
		if points[i].at.Before(first) || way < tellingMiles {
			continue
		}
		if seen := points[i].miles - points[i].guessed; seen >= tellingMiles {
			recorded += seen
			off += math.Abs(way - points[i].miles)
		}
	}
	share := usualTrackError
	if recorded > 0 {
		share = max(leastTrackError, off/recorded)
	}
	t.Error = readingError + share*(t.Driven-t.Guess) + t.Guess
	return t
}

// VehiclesAhead returns, of some vehicles of an account, the next instants at which meters change by time alone. Most
// have none.
func VehiclesAhead(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64,
	now time.Time) (map[uint64]time.Time, error) {
	next := map[uint64]time.Time{}
	err := schemas.EachRow(ctx, db, "read what is ahead of vehicles", schemas.Query("vehicles_ahead"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("now", now.UnixMilli()),
	}, func(row schemas.Row) error {
		var id uint64
		var at time.Time
		err := row.Scan(&id, &at)
		next[id] = at
		return err
	})
	return next, err
}

// addTracks works out the odometers of vehicles that have driven since they were read and have no tracker that tells
// them. It goes by the trips and readings as they stand, so that late fixes and readings that are taken back end alike.
func addTracks(ctx context.Context, db driver.Conn, account fleet.AccountID, all map[uint64]Meters,
	now time.Time) error {
	var vehicles []uint64
	for vehicle, m := range all {
		told := m.OdometerMi.Source == "telematics" && m.OdometerMi.At.Time().After(now.AddDate(0, 0, -7))
		if m.OdometerMi.At != 0 && !told {
			vehicles = append(vehicles, vehicle)
		}
	}
	if len(vehicles) == 0 {
		return nil
	}
	return schemas.EachRow(ctx, db, "read tracks since readings", schemas.Query("vehicles_track"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
		clickhouse.Named("now", now.UnixMilli()),
	}, func(row schemas.Row) error {
		var vehicle uint64
		var at []time.Time
		var mi, miles, guessed []float64
		var first, last time.Time
		if err := row.Scan(&vehicle, &at, &mi, &miles, &guessed, &first, &last); err != nil {
			return err
		}
		points := make([]trackPoint, len(at))
		for i := range at {
			points[i] = trackPoint{at: at[i], mi: mi[i], miles: miles[i], guessed: guessed[i]}
		}
		m := all[vehicle]
		track := trackOf(points, first)
		track.From = m.OdometerMi.Source
		m.OdometerMi.Value, m.OdometerMi.At, m.OdometerMi.Source = track.Read+track.Driven, fleet.MillisOf(last), "track"
		m.OdometerMi.Track = &track
		all[vehicle] = m
		return nil
	})
}
