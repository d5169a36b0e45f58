package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/loadtest/sim"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/schemas"
)

// benchFences is how many geofences the account has in the ingest comparison.
const benchFences = 1000

// benchRules are its alert rules.
var benchRules = []map[string]any{
	{"name": "Fast", "kind": "speeding", "threshold_mph": 65, "min_duration_s": 10},
	{"name": "In", "kind": "geofence_enter"},
	{"name": "Idle", "kind": "idling", "threshold_s": 600},
	{"name": "Silent", "kind": "device_offline", "threshold_s": 3600},
	{"name": "Low", "kind": "battery_low", "threshold_pct": 15},
	{"name": "Braking", "kind": "harsh_braking"},
	{"name": "Tow", "kind": "tow"},
	{"name": "Leap", "kind": "odometer_jump"},
}

// layDown makes geofences of all shapes within so many metres of the middle of the simulated city, depots and customers
// of 50 to some hundred metres, and rules, all of which hold since ever.
func (c *client) layDown(ctx context.Context, s *system.System, within float64) error {
	rng := rand.New(rand.NewPCG(7, 7))
	town := sim.DefaultConfig()
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(4)
	for i := range benchFences {
		away, bearing, size := rng.Float64()*within, rng.Float64()*2*math.Pi, 50+rng.ExpFloat64()*100
		lat := town.Lat + away*math.Cos(bearing)/111_195
		lng := town.Lng + away*math.Sin(bearing)/(111_195*math.Cos(town.Lat*math.Pi/180))
		fence := map[string]any{"name": fmt.Sprint("Fence ", i), "geometry": shape(i, lat, lng, size, rng),
			"applies_from": "2020-01-01T00:00:00Z", "dwell_s": 300}
		work.Go(func() error { return c.do(inner, http.MethodPost, "/v1/geofences", fence, nil) })
	}
	if err := work.Wait(); err != nil {
		return err
	}
	for _, rule := range benchRules {
		if err := c.do(ctx, http.MethodPost, "/v1/alert_rules", rule, nil); err != nil {
			return err
		}
	}
	// A rule holds from when it was written, and the simulated fleet drives in the past.
	return s.DB.Exec(ctx,
		"ALTER TABLE record_log UPDATE at = at - INTERVAL 5 YEAR WHERE kind = 'alert_rule' SETTINGS mutations_sync = 1")
}

// shape returns GeoJSON of some size in metres about a place: circles, polygons and corridors in turn.
func shape(i int, lat, lng, size float64, rng *rand.Rand) map[string]any {
	at := func(bearing, metres float64) []float64 {
		return []float64{lng + metres*math.Sin(bearing)/(111_195*math.Cos(lat*math.Pi/180)),
			lat + metres*math.Cos(bearing)/111_195}
	}
	switch i % 3 {
	case 0:
		return map[string]any{"type": "Circle", "center": []float64{lng, lat}, "radius_m": size}
	case 1:
		return map[string]any{"type": "Corridor",
			"coordinates": [][]float64{at(0, size), at(2, size), at(4, size*2)}, "width_m": 60}
	}
	var ring [][]float64
	corners := 8 + rng.IntN(20)
	for n := range corners {
		ring = append(ring, at(2*math.Pi*float64(n)/float64(corners), size*(0.7+0.6*rng.Float64())))
	}
	return map[string]any{"type": "Polygon", "coordinates": [][][]float64{append(ring, ring[0])}}
}

// remake empties topics by making them again.
func remake(ctx context.Context, s *system.System, topics ...string) error {
	client := &kafka.Client{Addr: kafka.TCP(s.Kafka())}
	deleted, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: topics})
	if err != nil {
		return err
	}
	for name, err := range deleted.Errors {
		if err != nil && !errors.Is(err, kafka.UnknownTopicOrPartition) {
			return fmt.Errorf("delete topic %s: %w", name, err)
		}
	}
	_, err = s.Output("migrate")
	return err
}

// derivedRate returns how many fixes a second a group derives, from when it has worked off the first of what it tells
// itself of them until it has derived all that there are, what came late included. What stood with the first is left
// out, as measure does it.
func derivedRate(ctx context.Context, s *system.System, group string, fixes int) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	client := &kafka.Client{Addr: kafka.TCP(s.Kafka())}
	var first, last int64
	var since time.Time
	err := await(ctx, 50*time.Millisecond, func() (bool, error) {
		did, there, err := workedOff(ctx, client, group+"-follow", "changes")
		if err != nil || did == 0 {
			return false, err
		}
		if since.IsZero() {
			first, since = did, time.Now()
		}
		if last = there; did < there {
			return false, nil
		}
		if did, there, err = workedOff(ctx, client, group, "positions"); err != nil || did < there {
			return false, err
		}
		// The last fixes may have been told of after the first question.
		if did, last, err = workedOff(ctx, client, group+"-follow", "changes"); err != nil || did < last {
			return false, err
		}
		dirty, err := scalar[uint64](ctx, s.DB, "SELECT count() FROM dirty_spans FINAL WHERE from_at IS NOT NULL")
		return dirty == 0, err
	})
	if err != nil {
		return 0, err
	}
	if first == last {
		return 0, fmt.Errorf("all of %d fixes were derived at the first look: measure more", fixes)
	}
	return float64(fixes) * (1 - float64(first)/float64(last)) / time.Since(since).Seconds(), nil
}

// workedOff returns how many records of a topic a group has committed, and how many there are.
func workedOff(ctx context.Context, client *kafka.Client, group, topic string) (did, there int64, err error) {
	cluster, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return 0, 0, err
	}
	var ids []int
	var ends []kafka.OffsetRequest
	for _, p := range cluster.Topics[0].Partitions {
		ids, ends = append(ids, p.ID), append(ends, kafka.LastOffsetOf(p.ID))
	}
	done, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: ids}})
	if err != nil {
		return 0, 0, err
	}
	wanted, err := client.ListOffsets(ctx,
		&kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: ends}})
	if err != nil {
		return 0, 0, err
	}
	for _, p := range done.Topics[topic] {
		did += max(0, p.CommittedOffset)
	}
	for _, p := range wanted.Topics[topic] {
		there += p.LastOffset
	}
	return did, there, nil
}

// counts says how many things of each kind were derived.
func counts(ctx context.Context, s *system.System) (string, error) {
	var said []string
	const text = "SELECT toString(kind), count() FROM derivations FINAL WHERE NOT deleted GROUP BY kind ORDER BY count() DESC"
	err := schemas.EachRow(ctx, s.DB, "count derivations", text, nil, func(row schemas.Row) error {
		var kind string
		var n uint64
		if err := row.Scan(&kind, &n); err != nil {
			return err
		}
		said = append(said, fmt.Sprintf("%d %ss", n, strings.ReplaceAll(kind, "_", " ")))
		return nil
	})
	return strings.Join(said, ", "), err
}
