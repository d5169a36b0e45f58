package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/uber/h3-go/v4"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/sim"
)

// trackBlock is how many positions are made, and inserted, at a time.
const trackBlock = 500_000

// tracks are positions as table positions stores them, a slice for each column: continuous tracks of a simulated fleet,
// in the order of time as they would have arrived.
type tracks struct {
	vehicles, cells      []uint64
	times, received      []int64 // ms
	lats, lngs           []int32
	altitudes            []*int32
	speeds, courses      []*uint16
	accuracies, odometer []*uint32
	satellites           []*uint8
	ignitions            []int8
	offsets              []uint64

	values struct { // that the pointers above point to
		altitudes            []int32
		speeds, courses      []uint16
		accuracies, odometer []uint32
		satellites           []uint8
	}
}

func newTracks(rows int) *tracks {
	t := &tracks{
		vehicles: make([]uint64, rows), cells: make([]uint64, rows), times: make([]int64, rows),
		received: make([]int64, rows),
		lats:     make([]int32, rows), lngs: make([]int32, rows), ignitions: make([]int8, rows),
		offsets:   make([]uint64, rows),
		altitudes: make([]*int32, rows), speeds: make([]*uint16, rows), courses: make([]*uint16, rows),
		accuracies: make([]*uint32, rows), odometer: make([]*uint32, rows), satellites: make([]*uint8, rows),
	}
	v := &t.values
	v.altitudes, v.speeds, v.courses = make([]int32, rows), make([]uint16, rows), make([]uint16, rows)
	v.accuracies, v.odometer, v.satellites = make([]uint32, rows), make([]uint32, rows), make([]uint8, rows)
	for i := range rows {
		t.altitudes[i], t.speeds[i], t.courses[i] = &v.altitudes[i], &v.speeds[i], &v.courses[i]
		t.accuracies[i], t.odometer[i], t.satellites[i] = &v.accuracies[i], &v.odometer[i], &v.satellites[i]
	}
	return t
}

// fill makes the fleet's next positions, the first of which is the offset-th of all. Vehicles have the
// identities from 1.
func (t *tracks) fill(driven *sim.Fleet, vehicles, offset int) error {
	var r fleet.Report
	for i := range t.vehicles {
		driven.Next(&r)
		lat, lng := fleet.Quantise(r.Lat), fleet.Quantise(r.Lng)
		cell, err := h3.LatLngToCell(h3.LatLng{Lat: lat, Lng: lng}, fleet.CellResolution)
		if err != nil {
			return fmt.Errorf("cell of %f, %f: %w", lat, lng, err)
		}
		t.vehicles[i], t.cells[i] = uint64((offset+i)%vehicles)+1, uint64(cell)
		t.times[i], t.received[i] = int64(r.FixTime), int64(r.FixTime)+int64(300+i%700)
		t.lats[i], t.lngs[i] = int32(math.Round(lat*1e7)), int32(math.Round(lng*1e7))
		v := &t.values
		v.altitudes[i] = int32(math.Round(r.Altitude * 10))
		v.speeds[i], v.courses[i] = uint16(math.Round(r.Speed*100)), uint16(math.Round(r.Course*100))
		v.accuracies[i], v.odometer[i] = uint32(math.Round(r.Accuracy*10)), uint32(r.Odometer)
		v.satellites[i], t.ignitions[i], t.offsets[i] = uint8(r.Satellites), int8(r.Ignition), uint64(offset+i)
	}
	return nil
}

// insert stores the first rows of the tracks in a table of the structure of positions.
func (t *tracks) insert(ctx context.Context, db driver.Conn, table string, rows int) error {
	batch, err := db.PrepareBatch(ctx,
		"INSERT INTO "+table+` (vehicle, cell, fix_time, device_time, received_at, lat7, lng7, altitude_dm,
		speed_cms, course_cdeg, accuracy_dm, odometer_m, satellites, ignition, source_offset, device, account, source_topic)`)
	if err != nil {
		return err
	}
	defer batch.Abort()
	for i, values := range []any{
		t.vehicles[:rows], t.cells[:rows], t.times[:rows], t.times[:rows], t.received[:rows], t.lats[:rows], t.lngs[:rows],
		t.altitudes[:rows], t.speeds[:rows], t.courses[:rows], t.accuracies[:rows], t.odometer[:rows], t.satellites[:rows],
		t.ignitions[:rows],
		t.offsets[:rows],
		t.vehicles[:rows], // a device each
	} {
		if err := batch.Column(i).Append(values); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	accounts, topics := make([]uint64, rows), make([]string, rows)
	for i := range rows {
		accounts[i], topics[i] = trackAccount, "positions"
	}
	if err := batch.Column(16).Append(accounts); err != nil {
		return err
	}
	if err := batch.Column(17).Append(topics); err != nil {
		return err
	}
	return batch.Send()
}

// trackAccount is the account of all tracks.
const trackAccount = 1

// createCopied is the table that appendCopy writes for: the columns of positions in the types PostgreSQL would have.
const createCopied = `CREATE TABLE positions (account bigint NOT NULL, vehicle bigint NOT NULL, fix_time timestamptz NOT NULL,
	device bigint NOT NULL, device_time timestamptz NOT NULL, received_at timestamptz NOT NULL, lat double precision NOT NULL,
	lng double precision NOT NULL, odometer_m integer, altitude_m real, speed_mps real, course_deg real, accuracy_m real,
	flags integer NOT NULL, cell bigint NOT NULL, satellites smallint, ignition smallint, motion smallint, alarm text)`

const copiedColumns = 19

// copyHeader and copyTrailer enclose the rows of PostgreSQL's binary COPY format.
var (
	copyHeader  = append([]byte("PGCOPY\n\xff\r\n\x00"), 0, 0, 0, 0, 0, 0, 0, 0)
	copyTrailer = []byte{0xff, 0xff}
)

// appendCopy appends a row in that format.
func (t *tracks) appendCopy(b []byte, i int) []byte {
	const epoch = 946_684_800_000 // PostgreSQL counts microseconds from 2000
	long := func(v int64) { b = binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), uint64(v)) }
	integer := func(v int32) { b = binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 4), uint32(v)) }
	small := func(v int16) { b = binary.BigEndian.AppendUint16(append(b, 0, 0, 0, 2), uint16(v)) }
	real := func(v float64) { integer(int32(math.Float32bits(float32(v)))) }
	b = binary.BigEndian.AppendUint16(b, copiedColumns)
	long(trackAccount)
	long(int64(t.vehicles[i]))
	long((t.times[i] - epoch) * 1000)
	long(int64(t.vehicles[i]))
	long((t.times[i] - epoch) * 1000)
	long((t.received[i] - epoch) * 1000)
	long(int64(math.Float64bits(float64(t.lats[i]) / 1e7)))
	long(int64(math.Float64bits(float64(t.lngs[i]) / 1e7)))
	v := &t.values
	integer(int32(v.odometer[i]))
	real(float64(v.altitudes[i]) / 10)
	real(float64(v.speeds[i]) / 100)
	real(float64(v.courses[i]) / 100)
	real(float64(v.accuracies[i]) / 10)
	integer(0)
	long(int64(t.cells[i]))
	small(int16(v.satellites[i]))
	small(int16(t.ignitions[i]))
	small(0)
	return append(b, 0, 0, 0, 0) // no alarm: the empty text
}

// writeTracks makes fixes positions and writes them to ClickHouse and, unless it is nil, as a COPY to the writer.
func writeTracks(ctx context.Context, db driver.Conn, copied io.Writer, cfg sim.Config, fixes int,
	log io.Writer) error {
	driven := sim.New(cfg)
	begun := time.Now()
	var spare [2]*tracks // one is being made while the other is being stored
	for i := range spare {
		spare[i] = newTracks(trackBlock)
	}
	if copied != nil {
		if _, err := copied.Write(copyHeader); err != nil {
			return err
		}
	}
	var buffer []byte
	store := func(ctx context.Context, t *tracks, rows int) error {
		work, ctx := errgroup.WithContext(ctx)
		work.Go(func() error { return t.insert(ctx, db, "positions", rows) })
		if copied != nil {
			work.Go(func() error {
				for i := range rows {
					if buffer = t.appendCopy(buffer, i); len(buffer) > 1<<20 || i == rows-1 {
						if _, err := copied.Write(buffer); err != nil {
							return err
						}
						buffer = buffer[:0]
					}
				}
				return nil
			})
		}
		return work.Wait()
	}
	var storing *errgroup.Group
	for done, turn := 0, 0; done < fixes; turn++ {
		t := spare[turn%2]
		if err := t.fill(driven, cfg.Vehicles, done); err != nil {
			return err
		}
		if storing != nil {
			if err := storing.Wait(); err != nil {
				return err
			}
		}
		rows := min(trackBlock, fixes-done)
		storing = new(errgroup.Group)
		storing.Go(func() error { return store(ctx, t, rows) })
		if done += rows; done%(20*trackBlock) == 0 || done == fixes {
			fmt.Fprintf(log, "%d of %d fixes, %.0f/s\n", done, fixes, float64(done)/time.Since(begun).Seconds())
		}
	}
	if storing != nil {
		if err := storing.Wait(); err != nil {
			return err
		}
	}
	if copied != nil {
		_, err := copied.Write(copyTrailer)
		return err
	}
	return nil
}
