// Package importload measures how long an import of bookings takes: a CSV of a hundred thousand that do not overlap, of
// a fleet and customers that were imported before, through the interface as people do it. What is there afterwards is
// counted.
package importload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/schemas"
)

// Options say how much is measured.
type Options struct {
	Bookings     int
	Vehicles     int // that they are of
	Customers    int // that they are for
	Reservations bool
	Base, Key    string
}

// Result is what was measured.
type Result struct {
	Options
	Bytes             int
	Uploaded, Settled time.Duration // until the file was taken, and until the job was done
	Found             []string
}

// Write prints it in Markdown.
func (r Result) Write(w io.Writer) error {
	fmt.Fprintf(w, "%d bookings of %d vehicles for %d customers, a CSV of %.1f MiB: taken after %.1f s, all made after %.1f s, %.0f a second\n\n",
		r.Bookings, r.Vehicles, r.Customers, float64(r.Bytes)/(1<<20), r.Uploaded.Seconds(), r.Settled.Seconds(),
		float64(r.Bookings)/r.Settled.Seconds())
	_, err := fmt.Fprintln(w, strings.Join(r.Found, "\n"))
	return err
}

// Run makes the fleet and the customers, and measures.
func Run(ctx context.Context, sys *system.System, o Options) (Result, error) {
	l := &load{o: o, sys: sys}
	r := Result{Options: o}
	file, err := l.file(ctx)
	if err != nil {
		return r, err
	}
	r.Bytes = len(file)
	fmt.Fprintln(os.Stderr, "vehicles and customers are there; the import of bookings begins")
	begun := time.Now()
	job, err := l.send(ctx, "bookings", "csv", file)
	if err != nil {
		return r, err
	}
	r.Uploaded = time.Since(begun)
	if err := l.wait(ctx, job, o.Bookings); err != nil {
		return r, err
	}
	r.Settled = time.Since(begun)
	r.Found, err = l.found(ctx)
	return r, err
}

// step is from one booking of a vehicle to the next.
const step = 33 * time.Hour

// load is one measurement.
type load struct {
	o   Options
	sys *system.System
}

// file makes what bookings name, and returns the CSV of them: by time, as another system would write it, and so each
// vehicle again and again.
func (l *load) file(ctx context.Context) (string, error) {
	var places, classes []string
	for i := range 2 {
		var place struct{ ID string }
		if err := l.do(ctx, "POST", "/v1/locations", "application/json", fmt.Sprintf(`{"name":"Airport %d",
			"timezone":"America/Chicago","taxes":[{"name":"Tax","rate_bp":825}]}`, i), &place); err != nil {
			return "", err
		}
		places = append(places, place.ID)
	}
	for i := range 5 {
		var class struct{ ID string }
		if err := l.do(ctx, "POST", "/v1/vehicle_classes", "application/json", fmt.Sprintf(`{"name":"Class %d",
			"buffer_after_minutes":60,"daily_rate":{"amount":%d,"currency":"USD"}}`, i, 5900+i*1000), &class); err != nil {
			return "", err
		}
		classes = append(classes, class.ID)
	}
	var vehicles, customers strings.Builder
	for i := range l.o.Vehicles {
		fmt.Fprintf(&vehicles, `{"make":"Kia","model":"Niro","year":2024,"license_plate":"P%05d","vehicle_class_id":%q,"home_location_id":%q}`+"\n",
			i, classes[i%len(classes)], places[i%len(places)])
	}
	for i := range l.o.Customers {
		fmt.Fprintf(&customers, `{"first_name":"Ada","last_name":"Number %d","email":"ada%d@example.com","phone":"+1512555%04d","date_of_birth":"19%02d-0%d-1%d","licence":{"number":"D%07d","country":"US","region":"TX","expires_on":"2100-01-01"}}`+"\n",
			i, i, i%10_000, 50+i%50, 1+i%9, i%10, i)
	}
	for _, made := range []struct {
		kind, rows string
		n          int
	}{{"vehicles", vehicles.String(), l.o.Vehicles}, {"customers", customers.String(), l.o.Customers}} {
		job, err := l.send(ctx, made.kind, "jsonl", made.rows)
		if err == nil {
			err = l.wait(ctx, job, made.n)
		}
		if err != nil {
			return "", err
		}
	}
	cars, err := l.ids(ctx, "vehicle", "veh_")
	if err != nil {
		return "", err
	}
	people, err := l.ids(ctx, "customer", "cus_")
	if err != nil {
		return "", err
	}
	var file strings.Builder
	file.WriteString("vehicle_id,customer_id,pickup_at,return_at,confirm,notes")
	if l.o.Reservations {
		file.WriteString(",channel,external_reservation_id")
	}
	file.WriteString("\n")
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Now().UTC().Truncate(time.Hour).Add(24 * time.Hour)
	for i := range l.o.Bookings {
		from := begin.Add(time.Duration(i/len(cars))*step + time.Duration(random.IntN(4))*time.Hour)
		fmt.Fprintf(&file, "%s,%s,%s,%s,true,calls before", cars[i%len(cars)], people[random.IntN(len(people))],
			from.Format(time.RFC3339), from.Add(24*time.Hour).Format(time.RFC3339))
		if l.o.Reservations {
			fmt.Fprintf(&file, ",turo,R%07d", i)
		}
		file.WriteString("\n")
	}
	return file.String(), nil
}

// ids are those of all records of a kind.
func (l *load) ids(ctx context.Context, kind, prefix string) ([]string, error) {
	return schemas.AllRows(ctx, l.sys.DB, "read ids",
		fmt.Sprintf("SELECT concat('%s', toString(id)) FROM record_log WHERE kind = '%s' AND revision = 1", prefix, kind), nil,
		func(id *string, row schemas.Row) error { return row.Scan(id) })
}

// send begins an import.
func (l *load) send(ctx context.Context, kind, format, file string) (job string, err error) {
	media := map[string]string{"csv": "text/csv", "jsonl": "application/x-ndjson"}[format]
	var made struct{ ID string }
	err = l.do(ctx, "POST", "/v1/imports?kind="+kind+"&format="+format, media, file, &made)
	return made.ID, err
}

// wait waits until all rows of an import were made.
func (l *load) wait(ctx context.Context, job string, rows int) error {
	for {
		var is struct {
			Status   string
			Progress struct{ Done, Total int }
			Result   struct{ Succeeded, Failed int }
		}
		if err := l.do(ctx, "GET", "/v1/jobs/"+job, "", "", &is); err != nil {
			return err
		}
		switch {
		case is.Status == "done" && is.Result.Succeeded == rows:
			return nil
		case is.Status == "done", is.Status == "failed":
			return fmt.Errorf("the import %s is %s with %d of %d rows, and %d refused", job, is.Status, is.Result.Succeeded,
				rows, is.Result.Failed)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// found counts what is there.
func (l *load) found(ctx context.Context) (lines []string, err error) {
	for _, one := range []struct {
		what, query string
		want        int
	}{
		{"bookings in the log", "SELECT count() FROM record_log WHERE kind = 'booking'", l.o.Bookings},
		{"bookings that are listed and confirmed", "SELECT count() FROM bookings FINAL WHERE status = 'confirmed'",
			l.o.Bookings},
		{"holds in calendars, each of a booking", `SELECT count() FROM (SELECT arrayJoin(hold_refs) AS ref FROM calendars FINAL)
			WHERE ref IN (SELECT concat('bkg_', toString(id)) FROM bookings FINAL)`, l.o.Bookings},
		{"different numbers", "SELECT uniqExact(number) FROM bookings FINAL", l.o.Bookings},
		{"revisions with two rows", "SELECT count() FROM (SELECT 1 FROM record_log GROUP BY kind, id, revision HAVING count() > 1)",
			0},
		{"bookings and calendars of which not all has followed", `SELECT count() FROM record_log WHERE kind IN ('booking',
			'calendar') AND (account, kind, id, revision) NOT IN (SELECT account, kind, id, revision FROM record_settled)`, 0},
		{"revisions of calendars", "SELECT count() FROM record_log WHERE kind = 'calendar'", -1},
		{"parts of the log", "SELECT count() FROM system.parts WHERE table = 'record_log' AND active", -1},
	} {
		var n uint64
		if err := l.sys.DB.QueryRow(ctx, one.query).Scan(&n); err != nil {
			return nil, fmt.Errorf("%s: %w", one.what, err)
		}
		line := fmt.Sprintf("- %d %s", n, one.what)
		if one.want >= 0 && n != uint64(one.want) {
			line += fmt.Sprintf(", and not %d", one.want)
			err = fmt.Errorf("%d %s, want %d", n, one.what, one.want)
		}
		lines = append(lines, line)
	}
	return lines, err
}

// do makes a request.
func (l *load) do(ctx context.Context, method, path, media, body string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, l.o.Base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+l.o.Key)
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s %s", method, path, res.Status, text)
	}
	return json.Unmarshal(text, into)
}
