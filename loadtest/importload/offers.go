package importload

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/asking"
	"github.com/motorpool/fleet/loadtest/system"
)

// Offers is what was measured of what is free and what it costs, over a fleet and its bookings that were imported.
type Offers struct {
	Imported Result
	Sorts    []asking.Sort
}

// Write prints tables in Markdown.
func (o Offers) Write(w io.Writer) error {
	if err := o.Imported.Write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return asking.Table(w, o.Sorts)
}

// Base is a process that is asked.
type Base struct{ Name, URL string }

// Ask imports what Run does, and then asks processes for what is free in some days of the months that the bookings are
// in, and for quotes, one client alone and many at once, for so long each.
func Ask(ctx context.Context, sys *system.System, o Options, bases []Base, clients int,
	long time.Duration) (r Offers, err error) {
	if r.Imported, err = Run(ctx, sys, o); err != nil {
		return r, err
	}
	l := &load{o: o, sys: sys}
	cars, err := l.ids(ctx, "vehicle", fleet.VehiclePrefix)
	if err != nil {
		return r, err
	}
	days := max(1, int(time.Duration(o.Bookings/o.Vehicles)*step/(24*time.Hour)))
	for _, what := range []struct {
		name string
		make func(base string, pickup, back time.Time, random *rand.Rand) (*http.Request, error)
	}{
		{"what is free", func(base string, pickup, back time.Time, _ *rand.Rand) (*http.Request, error) {
			return http.NewRequest(http.MethodGet, fmt.Sprintf("%s/v1/availability?per_page=20&pickup_at=%s&return_at=%s", base,
				pickup.Format(time.RFC3339), back.Format(time.RFC3339)), nil)
		}},
		{"a quote", func(base string, pickup, back time.Time, random *rand.Rand) (*http.Request, error) {
			return http.NewRequest(http.MethodPost, base+"/v1/quotes", strings.NewReader(fmt.Sprintf(
				`{"vehicle_id":%q,"pickup_at":%q,"return_at":%q}`, cars[random.IntN(len(cars))], pickup.Format(time.RFC3339),
				back.Format(time.RFC3339))))
		}},
	} {
		for _, n := range []int{1, clients} {
			for _, base := range bases {
				ask := func(ctx context.Context, random *rand.Rand) (*http.Request, error) {
					pickup := time.Now().UTC().Truncate(time.Hour).Add(time.Duration(1+random.IntN(days)) * 24 * time.Hour)
					req, err := what.make(base.URL, pickup, pickup.AddDate(0, 0, 1+random.IntN(5)), random)
					if err != nil {
						return nil, err
					}
					req.Header.Set("Authorization", "Bearer "+o.Key)
					req.Header.Set("Content-Type", "application/json")
					return req.WithContext(ctx), nil
				}
				if _, err := asking.Measure(ctx, n, long/4, ask); err != nil { // to get warm
					return r, fmt.Errorf("%s from %s: %w", what.name, base.Name, err)
				}
				s, err := asking.Measure(ctx, n, long, ask)
				if err != nil {
					return r, fmt.Errorf("%s from %s: %w", what.name, base.Name, err)
				}
				s.Name, s.Of = what.name, base.Name
				r.Sorts = append(r.Sorts, s)
			}
		}
	}
	return r, nil
}
