package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/demo"
	"github.com/motorpool/fleet/pipeline/recording"
)

const (
	demoAccount     = "Demo"
	trackingAccount = "Demo Tracking"
	// demoPause stands between the end of a recording and its next beginning.
	demoPause = 2 * time.Minute
	// demoBackfill is how much of the past is sent at the start, so that every vehicle is on the map at once.
	demoBackfill = 10 * time.Minute
	demoTick     = time.Second
)

// lap is one vehicle's recording, played round and round. Where a lap stands depends on the wall clock alone: a demo
// that is started again goes on as if it had never stopped, and what it sends twice has the same fix times.
type lap struct {
	reports []fleet.Report // times cleared: at has them
	at      []fleet.Millis // since the beginning of the lap, never falling; one for each report
	timed   []bool         // the report has a time of its own
	period  fleet.Millis
	phase   fleet.Millis // where in the lap the epoch stands, so that the vehicles do not all begin at once
}

// newLap makes a lap of a vehicle's reports in file order. A report without a time follows the one before it.
func newLap(identifier string, reports []fleet.Report) *lap {
	l := &lap{reports: reports, at: make([]fleet.Millis, len(reports)), timed: make([]bool, len(reports))}
	var begin, last fleet.Millis
	for i := range reports {
		r := &reports[i]
		if r.FixTime != 0 {
			if begin == 0 {
				begin = r.FixTime
			}
			l.timed[i] = true
			last = max(last, r.FixTime-begin)
		}
		l.at[i] = last
		r.FixTime, r.DeviceTime = 0, 0
	}
	l.period = last.Add(demoPause)
	hash := fnv.New64a()
	io.WriteString(hash, identifier)
	l.phase = fleet.Millis(hash.Sum64() % uint64(l.period) / 1000 * 1000)
	return l
}

// placed says whether a report tells a place, which not all of a recording do.
func (l *lap) placed(i int) bool {
	r := &l.reports[i]
	return l.timed[i] && r.Positioned && !math.IsNaN(r.Lat) && !math.IsNaN(r.Lng) && (r.Lat != 0 || r.Lng != 0)
}

// due appends the reports whose turn is in (from, to], with their times. If none of them tells a place and least is
// set, it appends the newest before them that does.
func (l *lap) due(from, to fleet.Millis, least bool, dst []fleet.Report) []fleet.Report {
	before := len(dst)
	for begin := l.begin(from); begin <= to; begin += l.period {
		// The laps of a demo are short and the spans between two calls shorter: a search finds the first of them.
		first, _ := slices.BinarySearchFunc(l.at, from-begin, func(at, from fleet.Millis) int {
			if at <= from {
				return -1
			}
			return 1
		})
		for i := first; i < len(l.at) && begin+l.at[i] <= to; i++ {
			dst = append(dst, l.report(i, begin))
			least = least && !l.placed(i)
		}
	}
	if !least {
		return dst
	}
	// Within two laps each of the reports had its turn.
	begin := l.begin(to)
	for range 2 {
		for i := len(l.at) - 1; i >= 0; i-- {
			if begin+l.at[i] <= from && l.placed(i) {
				return slices.Insert(dst, before, l.report(i, begin))
			}
		}
		begin -= l.period
	}
	return dst
}

// begin returns the beginning of the lap that holds an instant.
func (l *lap) begin(t fleet.Millis) fleet.Millis {
	into := (t + l.phase) % l.period
	return t - into
}

func (l *lap) report(i int, begin fleet.Millis) fleet.Report {
	r := l.reports[i]
	if l.timed[i] {
		r.FixTime = begin + l.at[i]
	}
	return r
}

// demoFleet is the fleet that is only tracked: the laps, and the registration of each vehicle.
type demoFleet struct {
	laps          []*lap // of the same vehicle as the registration
	registrations []registration
}

// loadDemo reads the bundled recordings.
func loadDemo() (*demoFleet, error) {
	vehicles, err := demo.Vehicles()
	if err != nil {
		return nil, err
	}
	byRecording := make(map[string]map[string][]fleet.Report)
	fleetOf := &demoFleet{}
	for _, v := range vehicles {
		if byRecording[v.Recording] == nil {
			if byRecording[v.Recording], err = readDemo(v.Recording); err != nil {
				return nil, err
			}
		}
		reports := byRecording[v.Recording][v.ID]
		if len(reports) == 0 {
			return nil, fmt.Errorf("the demo's %s has no rows of %s", v.Recording, v.ID)
		}
		fleetOf.laps = append(fleetOf.laps, newLap(v.ID, reports))
		fleetOf.registrations = append(fleetOf.registrations, registration{
			identifier: v.ID, uniqueID: "demo:" + v.ID,
			vehicle: record.VehicleFields{
				Make: v.Make, Model: v.Model, Year: v.Year, VIN: v.VIN, LicensePlate: v.LicensePlate,
				FuelType: v.FuelType, BodyType: v.BodyType, Nickname: v.Nickname, Tags: []string{"demo"},
			},
		})
	}
	return fleetOf, nil
}

func readDemo(name string) (map[string][]fleet.Report, error) {
	file, err := demo.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader, err := recording.New(name, file)
	if err != nil {
		return nil, err
	}
	byVehicle := make(map[string][]fleet.Report)
	for {
		report := fleet.NewReport()
		err := reader.Next(&report)
		if err == io.EOF {
			return byVehicle, nil
		}
		if err != nil {
			return nil, err
		}
		byVehicle[report.UniqueID] = append(byVehicle[report.UniqueID], report)
	}
}

// play sends what is due, once a second, until ctx ends. When the broker does not answer it sends the same again
// with the next tick, and drops what is older than demoBackfill.
func (d *demoFleet) play(ctx context.Context, uniqueIDs map[string]string, now func() time.Time,
	publish func(context.Context, []fleet.Report) error, log *slog.Logger) error {
	for i, l := range d.laps {
		for j := range l.reports {
			l.reports[j].UniqueID = uniqueIDs[d.registrations[i].identifier]
		}
	}
	ticker := time.NewTicker(demoTick)
	defer ticker.Stop()
	var due []fleet.Report
	sent, least, failing := fleet.MillisOf(now()).Add(-demoBackfill), true, false
	for {
		to := fleet.MillisOf(now())
		from := max(sent, to.Add(-demoBackfill))
		due = due[:0]
		for _, l := range d.laps {
			due = l.due(from, to, least, due)
		}
		if len(due) > 0 {
			err := publish(ctx, due)
			switch {
			case err == nil:
				sent, least, failing = to, false, false
			case ctx.Err() != nil:
				return nil
			case !failing && !errors.Is(err, context.Canceled):
				failing = true
				log.Warn("the demo cannot send its fixes and goes on trying", "error", err)
			}
		} else {
			sent = to
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
