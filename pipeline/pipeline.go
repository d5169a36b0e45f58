// Package pipeline is the work that one partition's records go through:
//
//	decode ─ whose device ─ check ─ judge ─ H3 cell ─ signals ─ sink ─ changes
//
// A Chain is the handler of one partition during one ownership of it. It takes a batch, an offset range that is formed
// again after a crash, to rows in ClickHouse in a way that may be repeated: verdicts depend on the records, the
// vehicles' stored states and the registry, never on a clock, and the inserts carry the range as their token. A Chain
// belongs to one goroutine and keeps the states of the vehicles it has met in memory; it loads a state when it meets
// the vehicle first.
//
// What a report says is kept in three places. The position goes to positions. Its signals go to telemetry, also those
// of a report whose place was refused and whose time can be used. Of the members that positions has as columns,
// ignition and motion become signals when they change, and the odometer once a minute, so that a series of them exists
// without storing each twice.
//
// When a batch is stored, the chain says on the topic changes which vehicles have something new. What is derived of
// that (trips, visits, alerts) is the work of pipeline/follow, because a vehicle may be fed from several partitions.
//
// Releaser, beside the chain, publishes again what was kept apart of devices that have been registered since.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/pipeline/sink"
)

// Config holds the settings of the chain.
type Config struct {
	Fix fix.Config
	// Formats of topics whose records name none; JSON for a topic that is not there.
	Formats map[string]codec.Format
	// What is kept of devices that are not registered.
	ApartPerDevice int // reports of one device
	ApartTotal     int // reports of all
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	return Config{Fix: fix.DefaultConfig(), ApartPerDevice: 10_000, ApartTotal: 1_000_000}
}

// Validate returns what is wrong with the settings.
func (c *Config) Validate() error {
	err := c.Fix.Validate()
	if c.ApartPerDevice < 0 || c.ApartTotal < 0 {
		err = errors.Join(err, errors.New("pipeline: limits of kept-apart reports are negative"))
	}
	return err
}

// LetterPublisher puts encoded dead letters on their topic and returns when they are acknowledged.
type LetterPublisher interface {
	PublishLetters(ctx context.Context, letters []codec.DeadLetter) error
}

// ChangePublisher says on a topic which vehicles have new fixes or signals, and returns when that is acknowledged.
type ChangePublisher interface {
	PublishChanges(ctx context.Context, changes []fleet.Change) error
}

// Deps are what chains share.
type Deps struct {
	DB       driver.Conn
	Registry *registry.Devices
	Letters  LetterPublisher
	Changes  ChangePublisher
	Apart    *Apart
	Metrics  *Metrics
	Log      *slog.Logger
}

// Chain is the handler of one partition.
type Chain struct {
	cfg    *Config
	deps   Deps
	topic  string
	format codec.Format

	decoder  *codec.Decoder
	reports  []fleet.Report
	origins  []origin // of the reports, at the same index
	works    []work
	vehicles map[vehicleKey]*vehicle
	touched  []*vehicle
	changes  []fleet.Change
	packers  []*derive.Packer // one for each of touched, and more
	tally    tally
	rows     *sink.Batch
	encoded  []byte
	heard    map[fleet.DeviceID]hearing
	batch    uint64 // counts parts of batches, so that what is noted of vehicles for one needs no clearing
}

// origin is where in a batch a report came from.
type origin struct {
	record int // index in Batch.Records
	index  int // within the record
}

// work is a report on its way.
type work struct {
	device   *fleet.Device // nil if unknown
	vehicle  *vehicle      // nil if it has none
	position fleet.Position
	refusal  fleet.Refusal
	looked   fleet.Millis // for a clock too far ahead: up to when it was looked what is stored
	foreign  bool         // let in as that of another account: nobody's
}

// NewChain returns the handler of a partition.
func NewChain(cfg *Config, deps Deps, topic string, partition int) *Chain {
	format, ok := cfg.Formats[topic]
	if !ok {
		format = codec.JSON
	}
	return &Chain{
		cfg: cfg, deps: deps, topic: topic, format: format, decoder: codec.NewDecoder(),
		vehicles: make(map[vehicleKey]*vehicle), heard: make(map[fleet.DeviceID]hearing),
		rows: sink.NewBatch(deps.DB, topic, partition),
	}
}

// partReports closes a part of a batch. A batch is bounded in bytes, but an empty report is three bytes of JSON and
// some five hundred here, so that bounds no memory.
const partReports = 65536

// partMonths bounds the months that a part has fixes of, but for a single record of more. A table has a part on
// disk and a block in its deduplication window for each month of an insert: were they hundreds, the window would
// hold few inserts.
const partMonths = 8

// Handle works a batch through. It may be called again for the same range after an error, by this chain or another.
//
// A batch with very many reports is worked through in parts, each a range of its own as if it were a batch. Where they
// end depends on the records alone, so a batch that is formed again has the same parts, and those that were written
// before are no-ops. So is one whose fixes are of many months. A part that is done is not formed again.
func (c *Chain) Handle(ctx context.Context, b *consume.Batch) error {
	c.deps.Metrics.working.Add(1)
	defer c.deps.Metrics.working.Add(-1)
	for rest := *b; len(rest.Records) > 0; {
		part := c.decode(&rest)
		if err := c.handle(ctx, &part); err != nil {
			// What was done to the states in memory was not written: load them again.
			clear(c.vehicles)
			clear(c.heard)
			return fmt.Errorf("handle %s: %w", b.Token(), err)
		}
		rest.First, rest.Records = part.Last+1, rest.Records[len(part.Records):]
		if len(rest.Records) > 0 && b.Reached != nil {
			if err := b.Reached(ctx, rest.First); err != nil {
				return err
			}
		}
	}
	return nil
}

// handle takes the decoded reports of a part to the store.
func (c *Chain) handle(ctx context.Context, b *consume.Batch) error {
	if err := c.identify(ctx, b); err != nil {
		return err
	}
	if err := c.load(ctx, b); err != nil {
		return err
	}
	stored, err := c.stored(ctx, b)
	if err != nil {
		return err
	}
	for i := range c.works {
		c.hear(b, i)
		before := c.rows.Signals()
		c.judge(b, i, stored)
		if n := c.rows.Signals() - before; n > 0 {
			c.tally.outcome(c.works[i].position.Account, b.Records[c.origins[i].record].Run).Signals += int64(n)
		}
	}
	c.addStates(b)
	if err := publishLetters(ctx, c.deps.Letters, b, c.rows.Letters()); err != nil {
		return err
	}
	if err := c.rows.Flush(ctx, token(b)); err != nil {
		return err
	}
	// Before the states: were it after them, a batch that is formed again would find its own fixes to be duplicates, and
	// have nothing to say.
	if err := c.publishChanges(ctx, b); err != nil {
		return err
	}
	if err := c.rows.FlushStates(ctx, token(b)); err != nil {
		return err
	}
	c.tally.count(c.deps.Metrics, c.rows.Signals())
	return nil
}

// token names the batch's inserts. The time of its last record, which is the same whenever the batch is formed again,
// tells a topic from another that was made under its name and counts from zero again.
func token(b *consume.Batch) string {
	return fmt.Sprintf("%s@%d", b.Token(), b.Records[len(b.Records)-1].Time)
}

// decode begins a part with the first records of a batch, at least one, turns them into reports and returns the part. A
// record that cannot be decoded becomes a dead letter.
func (c *Chain) decode(b *consume.Batch) consume.Batch {
	c.batch++
	c.rows.Reset()
	c.tally.reset()
	c.drop()
	c.decoder.Reset()
	part := *b
	c.reports, c.origins = c.reports[:0], c.origins[:0]
	dropped, unknown := c.decoder.DroppedSignals, c.decoder.UnknownSignals
	var months months
	for i := range b.Records {
		record := &b.Records[i]
		if len(c.reports) >= partReports || !months.receive(fix.Received(record.Time)) && i > 0 {
			part.Records, part.Last = b.Records[:i], record.Offset-1
			break
		}
		if record.Poison != nil {
			// How many reports it held nobody knows: it counts as one.
			c.tally.refuse(0, "", fleet.RefusedBatch)
			c.rows.Letter(poisonLetter(record))
			continue
		}
		before, droppedBefore, unknownBefore := len(c.reports), c.decoder.DroppedSignals, c.decoder.UnknownSignals
		format, err := codec.FormatOf(record.ContentType, c.format)
		if err == nil {
			c.reports, err = c.decoder.Decode(format, record.Value, c.reports)
		}
		if !months.add(c.reports[before:]) && i > 0 {
			c.reports = c.reports[:before]
			c.decoder.DroppedSignals, c.decoder.UnknownSignals = droppedBefore, unknownBefore
			part.Records, part.Last = b.Records[:i], b.Records[i].Offset-1
			break
		}
		if err != nil {
			reason := fleet.RefusedUndecodable
			if errors.Is(err, codec.ErrTooLarge) {
				reason = fleet.RefusedTooLarge
			}
			c.tally.refuse(0, record.Run, reason)
			c.letter(record, origin{record: i}, 0, "", reason, err.Error(), format, record.Value)
			continue
		}
		if len(c.reports) == before {
			c.tally.refuse(0, record.Run, fleet.RefusedEmpty)
			c.letter(record, origin{record: i}, 0, "", fleet.RefusedEmpty, "the record holds no report", format, record.Value)
		}
		for index := range len(c.reports) - before {
			c.origins = append(c.origins, origin{record: i, index: index})
		}
	}
	c.tally.dropped, c.tally.unknown = c.decoder.DroppedSignals-dropped, c.decoder.UnknownSignals-unknown
	return part
}

// keptPackers is how many packers a chain keeps from batch to batch.
const keptPackers = 1024

// drop forgets which vehicles were touched.
func (c *Chain) drop() {
	for _, v := range c.touched {
		v.packed = nil
	}
	c.touched = c.touched[:0]
	if len(c.packers) > keptPackers {
		clear(c.packers[keptPackers:])
		c.packers = c.packers[:keptPackers]
	}
}

// identify finds the device, the account and the vehicle of each report, and checks what needs no history.
func (c *Chain) identify(ctx context.Context, b *consume.Batch) error {
	if cap(c.works) < len(c.reports) {
		c.works = make([]work, len(c.reports))
	}
	c.works = c.works[:len(c.reports)]
	asked := false
	var last *fleet.Device
	for i := range c.reports {
		r, w := &c.reports[i], &c.works[i]
		*w = work{}
		if r.UniqueID == "" {
			w.refusal = fleet.RefusedNoDevice
			continue
		}
		if last == nil || last.UniqueID != r.UniqueID {
			var ok bool
			last, ok = c.deps.Registry.Lookup(r.UniqueID)
			if !ok && !asked {
				// It may have been registered a moment ago.
				asked = true
				if err := c.deps.Registry.LookAgain(ctx); err != nil {
					return err
				}
				last, ok = c.deps.Registry.Lookup(r.UniqueID)
			}
			if !ok {
				last = nil
			}
		}
		record := &b.Records[c.origins[i].record]
		received := fix.Received(record.Time)
		// Who let a report in as another account's, before the device came to this one, has nothing to say here.
		w.foreign = last != nil && record.Account != 0 && record.Account != last.Account
		if last == nil || w.foreign || record.Account == 0 && !last.Sent(received) {
			w.refusal = fleet.RefusedUnknownDevice
			continue
		}
		w.device = last
		c.check(w, r, received)
	}
	return nil
}

// check judges a report of a known device as far as that goes without its vehicle's history.
func (c *Chain) check(w *work, r *fleet.Report, received fleet.Millis) {
	w.position, w.refusal = c.cfg.Fix.Normalise(r, received)
	p := &w.position
	p.Account, p.Device = w.device.Account, w.device.ID
	if p.FixTime == 0 {
		return // refused for its time: nothing of it can be kept
	}
	if !r.Positioned && w.refusal != "" {
		w.refusal = "" // measurements without a place
	}
	if kept := w.device.Retention; kept > 0 && p.ReceivedTime-p.FixTime > kept {
		w.refusal = fleet.RefusedTooOld
		return
	}
	id := w.device.VehicleAt(p.FixTime)
	if id == 0 {
		w.refusal = fleet.RefusedUnassigned
		return
	}
	p.Vehicle = id
	w.vehicle = c.vehicle(vehicleKey{p.Account, id})
}

// judge holds a report against its vehicle's history and adds what is left of it to the rows.
func (c *Chain) judge(b *consume.Batch, i int, stored storedTimes) {
	r, w, from := &c.reports[i], &c.works[i], c.origins[i]
	record := &b.Records[from.record]
	p := &w.position
	if record.Released {
		c.tally.release(record.Run)
	}
	switch {
	case w.refusal == fleet.RefusedUnknownDevice && !w.foreign:
		c.keepApart(b, i)
		return
	case w.vehicle == nil:
		c.refuse(b, i, w.refusal)
		return
	case !r.Positioned:
		if w.vehicle.signals(c, p, r) == 0 {
			c.refuse(b, i, fleet.RefusedEmpty)
			return
		}
		c.tally.store(p.Account, record.Run, 0)
		c.tally.device(w.device, record.Run, fix.Received(record.Time), measured)
		return
	case w.refusal != "":
		w.vehicle.signals(c, p, r)
		c.refuse(b, i, w.refusal)
		return
	}
	v := w.vehicle
	v.touch(c)
	if p.Flags&fleet.FlagFutureClock != 0 {
		p.FixTime = v.free(c, stored, p.FixTime, w.looked)
	}
	by, duplicate := v.has(c, stored, p.FixTime)
	t := c.alarmTime(p)
	moved := duplicate && t != 0 && by != reportMarkOf(p) && w.device.VehicleAt(t) == p.Vehicle
	if moved {
		p.FixTime, p.Speed, p.Course = t, math.NaN(), math.NaN()
		p.Flags |= fleet.FlagInvalid
		_, duplicate = v.has(c, stored, t)
	}
	before := v.state.Last
	if moved { // the live position may not have heard of what duplicates said
		before.Ignition, before.Motion = fleet.Unknown, fleet.Unknown
	}
	mileage := v.state.Mileage.Time
	if refusal := c.cfg.Fix.Classify(&v.state, p, duplicate); refusal != "" {
		if !moved && r.DeviceTime > p.FixTime && r.DeviceTime <= p.ReceivedTime {
			p.FixTime = r.DeviceTime // the place is the old one, the measurements are new
		}
		v.signals(c, p, r)
		c.refuse(b, i, refusal)
		return
	}
	v.changed(c, p.FixTime)
	v.accept(c, p)
	p.Cell = v.cellOf(p)
	c.rows.Position(p, record.Offset)
	v.packed.Fix(p)
	v.report(c, p, r, &before, mileage)
	if v.state.Last.FixTime != before.FixTime {
		v.state.Last.Cell = v.cellOf(&v.state.Last)
	}
	c.tally.store(p.Account, record.Run, p.Flags)
}

// alarmTime returns when an alarm is stored that comes with a fix that is stored already, told at another time or
// without it: 0 if there is none, or no time for it. Devices tell of what happens with the last fix that they had,
// where they do not see the sky. Of where the vehicle is then such a report says nothing, and it is a millisecond
// beside a true fix of that second.
func (c *Chain) alarmTime(p *fleet.Position) fleet.Millis {
	t := max(p.DeviceTime-1, p.FixTime+1)
	if p.Alarm == "" || p.Flags&(fleet.FlagFutureClock|fleet.FlagRollover) != 0 ||
		t > p.ReceivedTime.Add(c.cfg.Fix.FutureTolerance) {
		return 0
	}
	return t
}

// refuse counts a refusal and, where it would lose something, keeps a dead letter.
func (c *Chain) refuse(b *consume.Batch, i int, reason fleet.Refusal) {
	w, from := &c.works[i], c.origins[i]
	record := &b.Records[from.record]
	var account fleet.AccountID
	if w.device != nil {
		account = w.device.Account
		c.tally.device(w.device, record.Run, fix.Received(record.Time), string(reason))
	}
	c.tally.refuse(account, record.Run, reason)
	if !reason.DeadLettered() {
		return
	}
	r := &c.reports[i]
	format, payload := codec.JSON, record.Value
	if c.alone(i) {
		format, _ = codec.FormatOf(record.ContentType, c.format)
	} else { // the record has reports of other devices too, perhaps of other accounts: keep this one's
		payload = codec.AppendReport(nil, r)
	}
	c.letter(record, from, account, r.UniqueID, reason, fix.Explain(reason, r, w.position.FixTime), format, payload)
}

// alone says whether a report is the only one of its record.
func (c *Chain) alone(i int) bool {
	return c.origins[i].index == 0 && (i+1 == len(c.origins) || c.origins[i+1].record != c.origins[i].record)
}

// keepApart keeps a report of an unknown device, if there is room.
func (c *Chain) keepApart(b *consume.Batch, i int) {
	r, from := &c.reports[i], c.origins[i]
	record := &b.Records[from.record]
	if !c.deps.Apart.take(r.UniqueID) {
		c.tally.refuse(0, record.Run, fleet.RefusedUnknownOverflow)
		return
	}
	c.tally.refuse(0, record.Run, fleet.RefusedUnknownDevice)
	c.encoded = codec.AppendReport(c.encoded[:0], r)
	c.rows.Apart(r.UniqueID, fix.Received(record.Time), record.Offset, from.index, record.Run, c.encoded)
}

// letter adds a dead letter for a record, or for one report of it.
func (c *Chain) letter(r *consume.Record, from origin, account fleet.AccountID, uniqueID string, reason fleet.Refusal,
	detail string, format codec.Format, payload []byte) {
	c.rows.Letter(sink.Letter{
		Account: account, At: fix.Received(r.Time), Reason: reason, Detail: detail, UniqueID: uniqueID, Offset: r.Offset,
		Index:  from.index,
		Format: string(format), Payload: payload[:min(len(payload), sink.MaxPayload)], Bytes: len(payload),
	})
}

// maxInputs bounds what a change carries of a vehicle's inputs, in bytes, so that its record is far below
// what topics take.
const maxInputs = 256 << 10

// publishChanges says which vehicles have something new, and what, if that is certain: rows that were inserted by an
// earlier attempt are those that it formed. Said twice, it does no harm.
func (c *Chain) publishChanges(ctx context.Context, b *consume.Batch) error {
	c.changes = c.changes[:0]
	certain := b.Alone != nil && b.Alone(ctx)
	for _, v := range c.touched {
		if v.to == 0 {
			continue
		}
		change := fleet.Change{Account: v.key.account, Vehicle: v.key.vehicle, From: v.from, To: v.to}
		if certain && v.from > v.before.Newest && v.packed.Len() <= maxInputs { // what comes late is read back in any case
			change.Inputs = v.packed.Bytes()
		}
		if v.state.Last.FixTime != v.before.Last.FixTime {
			change.Live = liveOf(&v.state.Last)
		}
		c.changes = append(c.changes, change)
	}
	if len(c.changes) == 0 || c.deps.Changes == nil {
		return nil
	}
	return c.deps.Changes.PublishChanges(ctx, c.changes)
}

// liveOf returns a live position as a change tells it.
func liveOf(p *fleet.Position) *fleet.Live {
	orNil := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	return &fleet.Live{
		Device: p.Device, FixTime: p.FixTime, DeviceTime: p.DeviceTime, ReceivedTime: p.ReceivedTime, Lat: p.Lat, Lng: p.Lng,
		Altitude: orNil(p.Altitude),
		Speed:    orNil(p.Speed), Course: orNil(p.Course), Accuracy: orNil(p.Accuracy), Odometer: orNil(p.Odometer),
		Ignition: p.Ignition, Cell: p.Cell, Flags: p.Flags,
	}
}

// addStates adds the states of the vehicles that moved, and the counts.
func (c *Chain) addStates(b *consume.Batch) {
	for _, v := range c.touched {
		v.addRows(c, b.Last)
	}
	c.tally.addOutcomes(b, c.rows)
}
