package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/schollz/progressbar/v3"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/query"
)

type replayCommand struct {
	Files      []string `arg:"" help:"Recordings; each may be gzipped." type:"existingfile"`
	Account    string   `help:"Account whose vehicles these are. Without it an identifier in a file is a device's unique id." placeholder:"NAME"`
	Register   bool     `help:"Make the account, and a vehicle and a device for each identifier, where they are missing."`
	Speed      string   `help:"original: as slowly as it was recorded; 10x: ten times as fast; max: as fast as it goes." default:"max"`
	Rate       float64  `help:"Rows a second at most; 0 is no limit." default:"0"`
	ShiftToNow bool     `help:"Move all times by one span, so that the newest fix is now; with a speed, so that the first one is."`
	Wait       bool     `help:"Return when the pipeline has worked through what was sent and trips, visits and alerts are derived, and say what became of it."`
	Group      string   `help:"Consumer group of the pipeline that --wait waits for." default:"motorpool"`
	JSON       bool     `name:"json" help:"Say it as one JSON object; implies --wait."`
}

func (*replayCommand) Help() string {
	return `Every row is sent exactly as it was read, through Kafka, also one without a time or a place: the pipeline refuses it
with its reason. A CSV has the columns vehicle, timestamp (RFC 3339, with an offset), lat and lng (degrees), separated by
commas, and may have speed_kmh, heading_deg, altitude_m, gps_accuracy_m, battery_pct, rpm, fuel_rate_lph and others that
pipeline/recording lists. At full speed rows go in the order of the files, otherwise in the order of their times.

  motorpool replay --account Acme --register --wait drives.csv.gz
  motorpool replay --account Acme --register --speed 10x --shift-to-now tour.gpx
  motorpool replay --account Acme --json *.csv.gz`
}

func (c *replayCommand) Validate() error {
	if c.Register && c.Account == "" {
		return errors.New("--register needs --account")
	}
	if c.Rate < 0 {
		return errors.New("--rate must not be negative")
	}
	_, err := parseSpeed(c.Speed)
	return err
}

// parseSpeed returns how many times faster than recorded, and 0 for as fast as it goes.
func parseSpeed(text string) (float64, error) {
	switch text {
	case "max":
		return 0, nil
	case "original":
		return 1, nil
	}
	n, ok := strings.CutSuffix(text, "x")
	speed, err := strconv.ParseFloat(n, 64)
	if !ok || err != nil || !(speed > 0 && speed <= 1e6) {
		return 0, fmt.Errorf("--speed is original, max, or a factor such as 10x; not %q", text)
	}
	return speed, nil
}

// outcomes is what --json prints.
type outcomes struct {
	Read    int64                   `json:"read"`
	Stored  int64                   `json:"stored"`
	Refused map[fleet.Refusal]int64 `json:"refused"`
}

func (c *replayCommand) Run(ctx context.Context, s settings, o output) error {
	c.Wait = c.Wait || c.JSON
	size, err := sizeOf(c.Files)
	if err != nil {
		return err
	}
	speed, _ := parseSpeed(c.Speed) // Validate has
	r := &replay{replayCommand: c, speed: speed, size: size, run: "replay-" + strings.ToLower(rand.Text()[:16]), out: o}
	if c.Register || c.ShiftToNow || speed > 0 {
		bar := r.progress("reading", size)
		if r.scanned, err = scan(ctx, c.Files, func(n int64) { _ = bar.Set64(n) }); err != nil {
			return err
		}
		_ = bar.Finish()
	}
	var db driver.Conn
	if c.Account != "" || c.Wait {
		if db, err = s.openStore(ctx); err != nil {
			return err
		}
		defer db.Close()
	}
	if c.Account != "" {
		if err := untilDone(ctx, func() error { return r.resolve(ctx, db) }, o.err); err != nil {
			return err
		}
	}
	kafka := s.topics(false)
	feed, err := topic.NewFeed(kafka)
	if err != nil {
		return err
	}
	defer feed.Close()
	r.publish = func(ctx context.Context, messages []topic.Message) error {
		again, err := insist(ctx, messages, func(messages []topic.Message) error {
			return feed.PublishRaw(ctx, kafka.Positions, messages)
		}, o.err)
		r.again += int64(again)
		return err
	}
	if err := r.send(ctx); err != nil {
		return fmt.Errorf("after %d rows: %w", r.sent, err)
	}
	if !c.Wait {
		fmt.Fprintf(o.err, "%d rows sent\n", r.sent)
		return nil
	}
	result, err := r.wait(ctx, db, kafka)
	if err != nil {
		return err
	}
	if n := result.Refused[fleet.RefusedUnknownDevice]; n > 0 {
		fmt.Fprintf(o.err, "%d rows are of devices that are registered nowhere or on no vehicle. They are kept apart for a week, and appear when an operator says whose they are: --register does that, or 'motorpool device create'.\n", n)
	}
	// What is stored is said also if nothing follows from it.
	return errors.Join(r.waitDerived(ctx, db, kafka),
		c.report(o.out, outcomes{Read: result.Read, Stored: result.Stored, Refused: result.Refused}))
}

func (c *replayCommand) report(w io.Writer, all outcomes) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(all)
	}
	fmt.Fprintf(w, "read     %9d\nstored   %9d\n", all.Read, all.Stored)
	for _, reason := range fleet.Refusals {
		if n := all.Refused[reason]; n != 0 {
			fmt.Fprintf(w, "refused  %9d  %s\n", n, reason)
		}
	}
	return nil
}

// replay is one run of the command.
type replay struct {
	*replayCommand
	speed   float64
	size    int64 // of the files
	run     string
	account fleet.AccountID // 0: whoever owns the devices
	scanned scanned
	unique  map[string]string // unique ids by the identifiers of the files; nil: they are the same
	shift   time.Duration
	sent    int64
	again   int64 // of them, sent more than once
	publish func(context.Context, []topic.Message) error
	out     output
}

// resolve finds the device of each identifier, and makes what is missing if it may.
func (r *replay) resolve(ctx context.Context, db driver.Conn) error {
	all, err := newRecords(db)
	if err != nil {
		return err
	}
	if r.Register { // what a process that was killed has made and not listed would seem to be missing
		if err := all.store.MendNow(ctx, record.Accounts.Name, record.Vehicles.Name, record.Devices.Name); err != nil {
			return err
		}
	}
	account, err := all.account(ctx, r.Account, r.Register)
	if err != nil {
		return err
	}
	r.account = account
	if !r.Register {
		known, err := query.ExternalRefs(ctx, db, account, recordingSystem)
		if err != nil {
			return err
		}
		r.unique = make(map[string]string, len(known.Devices))
		for identifier, device := range known.Devices {
			r.unique[identifier] = device.UniqueID
		}
		return nil
	}
	registrations := make([]registration, 0, len(r.scanned.identifiers))
	for _, identifier := range r.scanned.identifiers {
		vehicle := record.VehicleFields{Make: "Unknown", Model: "Unknown", Nickname: shortName(identifier),
			Tags: []string{recordingSystem}}
		if r.scanned.electric[identifier] {
			vehicle.FuelType = "electric"
		}
		registrations = append(registrations, registration{
			identifier: identifier, uniqueID: uniqueIDFor(account, identifier), vehicle: vehicle,
		})
	}
	bar := r.progress("registering", int64(len(registrations)))
	r.unique, err = all.register(ctx, account, registrations, func(n int) { _ = bar.Add(n) })
	_ = bar.Finish()
	return err
}

// shortName cuts an identifier to what a nickname may be.
func shortName(identifier string) string {
	const longest = 100
	if len(identifier) <= longest {
		return identifier
	}
	return strings.ToValidUTF8(identifier[:longest-3], "") + "…"
}

const (
	chunkRows  = 2000
	chunkBytes = 1 << 20
	// maxPaced bounds the rows that are held and sorted for a paced replay.
	maxPaced = 5_000_000
)

func (r *replay) send(ctx context.Context) error {
	if r.ShiftToNow && r.scanned.last != 0 {
		newest := r.scanned.last
		if r.speed > 0 {
			newest = r.scanned.first
		}
		r.shift = time.Duration(fleet.MillisOf(time.Now())-newest) * time.Millisecond
	}
	bar := r.progress("sending", r.size)
	defer func() { _ = bar.Finish() }()
	if r.speed > 0 {
		return r.sendPaced(ctx, bar)
	}
	limit := newPacer(r.Rate)
	var chunk []topic.Message
	bytes := 0
	flush := func() error {
		if len(chunk) == 0 {
			return nil
		}
		if err := limit.wait(ctx, len(chunk)); err != nil {
			return err
		}
		if err := r.publish(ctx, chunk); err != nil {
			return err
		}
		r.sent += int64(len(chunk))
		chunk, bytes = chunk[:0], 0
		return nil
	}
	most := chunkRows
	if r.Rate > 0 {
		most = max(1, min(most, int(r.Rate/10)))
	}
	err := eachReport(ctx, r.Files, func(report *fleet.Report) error {
		m := r.message(report)
		chunk = append(chunk, m)
		bytes += len(m.Value)
		if len(chunk) >= most || bytes >= chunkBytes {
			return flush()
		}
		return nil
	}, func(n int64) { _ = bar.Set64(n) })
	if err != nil {
		return errors.Join(flush(), err)
	}
	return flush()
}

// message makes the record of a row: the row as read, under the unique id of its device.
func (r *replay) message(report *fleet.Report) topic.Message {
	m := *report
	if unique, ok := r.unique[m.UniqueID]; ok {
		m.UniqueID = unique
	}
	if m.FixTime != 0 {
		m.FixTime = m.FixTime.Add(r.shift)
	}
	if m.DeviceTime != 0 {
		m.DeviceTime = m.DeviceTime.Add(r.shift)
	}
	return topic.Message{
		Key: []byte(m.UniqueID), Value: codec.AppendReport(nil, &m), ContentType: codec.ContentTypeJSON, Run: r.run,
	}
}

// insist publishes until everything is acknowledged, as a broker may be started again meanwhile. The order holds:
// nothing later is sent before this is through. It returns how many messages were sent again; of those, some may
// be there twice.
func insist(ctx context.Context, messages []topic.Message, publish func([]topic.Message) error,
	w io.Writer) (again int, err error) {
	giveUp, pause := time.Now().Add(insistFor), 100*time.Millisecond
	for told := false; ; {
		err := publish(messages)
		var partly *topic.PublishError
		if err == nil || ctx.Err() != nil || errors.Is(err, topic.ErrTooLarge) || time.Now().After(giveUp) {
			return again, err
		}
		if errors.As(err, &partly) && len(partly.Errors) == len(messages) {
			var left []topic.Message
			for i, failed := range partly.Errors {
				if failed != nil {
					left = append(left, messages[i])
				}
			}
			messages = left
		}
		if !told {
			told = true
			fmt.Fprintf(w, "Kafka does not take the rows, trying again: %v\n", err)
		}
		if err := sleepUntil(ctx, time.Now().Add(pause)); err != nil {
			return again, err
		}
		again += len(messages)
		pause = min(2*pause, 5*time.Second)
	}
}

// sendPaced holds all rows, sorts them by time, and sends each when its turn comes. A row without a time goes with the
// one before it.
func (r *replay) sendPaced(ctx context.Context, bar *progressbar.ProgressBar) error {
	type turn struct {
		at      fleet.Millis // as recorded
		message topic.Message
	}
	if r.scanned.rows > maxPaced {
		return fmt.Errorf("%d rows are too many to be sorted by time; split the files or use --speed max", r.scanned.rows)
	}
	turns := make([]turn, 0, r.scanned.rows)
	last := r.scanned.first
	err := eachReport(ctx, r.Files, func(report *fleet.Report) error {
		if report.FixTime != 0 {
			last = report.FixTime
		}
		turns = append(turns, turn{at: last, message: r.message(report)})
		return nil
	}, func(int64) {})
	if err != nil {
		return err
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	bar.ChangeMax64(int64(len(turns)))
	limit := newPacer(r.Rate)
	begin := time.Now()
	var chunk []topic.Message
	for i := 0; i < len(turns); {
		recorded := time.Duration(turns[i].at-r.scanned.first) * time.Millisecond
		if err := sleepUntil(ctx, begin.Add(time.Duration(float64(recorded)/r.speed))); err != nil {
			return err
		}
		// All whose turn has come by now go together.
		reached := r.scanned.first.Add(time.Duration(float64(time.Since(begin)) * r.speed))
		chunk = chunk[:0]
		for i < len(turns) && len(chunk) < chunkRows && (turns[i].at <= reached || len(chunk) == 0) {
			chunk = append(chunk, turns[i].message)
			i++
		}
		if err := limit.wait(ctx, len(chunk)); err != nil {
			return err
		}
		if err := r.publish(ctx, chunk); err != nil {
			return err
		}
		r.sent += int64(len(chunk))
		_ = bar.Set64(r.sent)
	}
	return nil
}

// progress shows a bar where somebody watches.
func (r *replay) progress(what string, most int64) *progressbar.ProgressBar {
	return newBar(r.out, what, most)
}

func newBar(o output, what string, most int64) *progressbar.ProgressBar {
	w := io.Discard
	if isTerminal(o.err) {
		w = o.err
	}
	return progressbar.NewOptions64(most, progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(fmt.Sprintf("%-12s", what)), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(40))
}

// pacer spreads rows over time.
type pacer struct {
	rate float64 // a second; 0 is no limit
	next time.Time
}

func newPacer(rate float64) *pacer { return &pacer{rate: rate, next: time.Now()} }

func (p *pacer) wait(ctx context.Context, rows int) error {
	if p.rate == 0 {
		return ctx.Err()
	}
	if err := sleepUntil(ctx, p.next); err != nil {
		return err
	}
	if now := time.Now(); p.next.Before(now.Add(-time.Second)) {
		p.next = now // time that was lost is not made up for
	}
	p.next = p.next.Add(time.Duration(float64(rows) / p.rate * float64(time.Second)))
	return nil
}

func sleepUntil(ctx context.Context, t time.Time) error {
	d := time.Until(t)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
