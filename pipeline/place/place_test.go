package place

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
)

// topic keeps what is told, unless it is away.
type topic struct {
	away bool
	told []fleet.Event
}

func (o *topic) PublishEvents(_ context.Context, events []fleet.Event) error {
	if o.away {
		return errors.New("away")
	}
	o.told = append(o.told, events...)
	return nil
}

func batch(t *testing.T, changes ...fleet.Change) *consume.Batch {
	t.Helper()
	b := &consume.Batch{Topic: "changes", Records: []consume.Record{{Value: []byte("no change")}}}
	for _, c := range changes {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		b.Records = append(b.Records, consume.Record{Value: text})
	}
	return b
}

func change(account fleet.AccountID, vehicle fleet.VehicleID, fix fleet.Millis, lat float64) fleet.Change {
	live := placeAt(fix, lat)
	live.ReceivedTime = fleet.MillisOf(time.Now())
	return fleet.Change{Account: account, Vehicle: vehicle, From: fix, To: fix, Live: live}
}

func TestPlacesAreToldToThoseWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &topic{}
		teller := &Teller{To: to, Log: slog.New(slog.DiscardHandler),
			Wanted: func(account fleet.AccountID, vehicle fleet.VehicleID) (Rule, bool) {
				return usual, account == 7
			}}
		ctx, stop := context.WithCancel(t.Context())
		go teller.Run(ctx)
		h := teller.Handler()
		handle := func(fails bool, changes ...fleet.Change) {
			t.Helper()
			if err := h.Handle(ctx, batch(t, changes...)); (err != nil) != fails {
				t.Fatalf("%v", err)
			}
		}
		has := func(want ...fleet.Millis) {
			t.Helper()
			synctest.Wait()
			if len(to.told) != len(want) {
				t.Fatalf("told is %+v, want %v", to.told, want)
			}
			for i, e := range to.told {
				if e.At != want[i] || e.Account != 7 || e.Type != fleet.EventLocationUpdated || e.ID == 0 {
					t.Errorf("event %d is %+v, want %d", i, e, want[i])
				}
			}
		}
		handle(false, change(7, 5, 1000, 50), change(8, 6, 1000, 50), change(7, 5, 2000, 50.0001),
			fleet.Change{Account: 7, Vehicle: 5, From: 1, To: 2})
		has(1000)
		time.Sleep(12 * time.Second) // nothing comes, and what is withheld is told
		has(1000, 2000)
		to.away = true
		handle(true, change(7, 5, 3000, 51))
		to.away = false
		handle(false, change(7, 5, 3000, 51)) // the batch comes again
		has(1000, 2000, 3000)
		handle(false, change(7, 5, 4000, 51.00001))
		if err := h.(io.Closer).Close(); err != nil { // what is withheld is told
			t.Fatal(err)
		}
		has(1000, 2000, 3000, 4000)
		handle(false, change(7, 5, 5000, 51.00002))
		time.Sleep(time.Minute)
		has(1000, 2000, 3000, 4000) // another one owns it now
		h = teller.Handler()
		handle(false, change(7, 5, 4000, 51.00001)) // which does not know what was told; its id does
		has(1000, 2000, 3000, 4000, 4000)
		// What comes hours late is told now and then, wherever the vehicle went.
		late := []fleet.Change{change(7, 5, 6000, 52), change(7, 5, 7000, 53), change(7, 5, 8000, 54)}
		time.Sleep(4 * time.Hour)
		handle(false, late...)
		has(1000, 2000, 3000, 4000, 4000, 6000)
		time.Sleep(12 * time.Second)
		has(1000, 2000, 3000, 4000, 4000, 6000, 8000)
		if again, _ := fleet.LocationEvent(7, 5, placeAt(4000, 51)); again.ID != to.told[3].ID ||
			again.ID == to.told[2].ID {
			t.Errorf("the ids are %d, %d and %d", again.ID, to.told[3].ID, to.told[2].ID)
		}
		stop()
	})
}
