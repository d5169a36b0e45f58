// Package writers lets many clients write one record through two processes of the interface at once: no write is lost,
// none is done twice, and every revision has one author.
package writers

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/loadtest/system/systemtest"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }

const (
	writers = 32
	each    = 1 // increments of a writer
)

func TestThirtyTwoWritersOverTwoProcessesLoseNoUpdate(t *testing.T) {
	sys := systemtest.Start(t)
	key := systemtest.Key(t, sys, "Writers", "vehicles:read,vehicles:write")
	clients := []systemtest.Client{{Base: sys.URL(), Key: key}, {Base: "http://" + systemtest.FreeAddr(t), Key: key}}
	for _, c := range clients {
		systemtest.Process(t, sys, "serve", "--http", c.Base[len("http://"):], "--ops", systemtest.FreeAddr(t))
	}
	for _, c := range clients {
		c.Await(t)
	}
	ctx := t.Context()
	made := clients[0].Do(ctx, "POST", "/v1/vehicles",
		map[string]any{"make": "Renault", "model": "Twizy", "year": 2015, "metadata": map[string]string{"counter": "0"}})
	if made.Status != http.StatusCreated {
		t.Fatalf("%d %s", made.Status, made.Body)
	}
	var vehicle struct {
		ID       string
		Revision int
		Metadata map[string]string
	}
	made.Decode(&vehicle)

	var stale, won atomic.Int64
	var work errgroup.Group
	for w := range writers {
		c := clients[w%len(clients)]
		work.Go(func() error {
			newest := 0
			for done := 0; done < each; {
				seen := c.Do(ctx, "GET", "/v1/vehicles/"+vehicle.ID, nil)
				var now struct {
					Revision int
					Metadata map[string]string
				}
				seen.Decode(&now)
				if seen.Status == http.StatusTooManyRequests {
					time.Sleep(time.Second)
					continue
				}
				if seen.Status == http.StatusOK && now.Revision < newest {
					return fmt.Errorf("%s went back from revision %d to %d", c.Base, newest, now.Revision)
				}
				newest = now.Revision
				counter, err := strconv.Atoi(now.Metadata["counter"])
				if err != nil {
					return fmt.Errorf("%d %s", seen.Status, seen.Body)
				}
				answer := c.Do(ctx, "PATCH", "/v1/vehicles/"+vehicle.ID,
					map[string]any{"metadata": map[string]string{"counter": strconv.Itoa(counter + 1)}}, "If-Match", seen.ETag)
				switch answer.Status {
				case http.StatusOK:
					done++
					won.Add(1)
				case http.StatusPreconditionFailed:
					stale.Add(1)
				case http.StatusTooManyRequests:
					time.Sleep(time.Second)
				default:
					return fmt.Errorf("%d %s", answer.Status, answer.Body)
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, c := range clients {
		// What one process wrote the other knows a tenth of a second later, or more on a machine with much to do.
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			c.Do(ctx, "GET", "/v1/vehicles/"+vehicle.ID, nil).Decode(&vehicle)
			if vehicle.Revision >= 1+writers*each || time.Now().After(deadline) {
				break
			}
		}
		if vehicle.Metadata["counter"] != strconv.Itoa(writers*each) || vehicle.Revision != 1+writers*each {
			t.Errorf("%s: counter %s at revision %d after %d increments", c.Base, vehicle.Metadata["counter"],
				vehicle.Revision, writers*each)
		}
	}
	t.Logf("%d writes won, %d were told that they were stale", won.Load(), stale.Load())
	if stale.Load() == 0 {
		t.Error("nobody was ever stale: the writers did not meet")
	}
	var rows, revisions uint64
	if err := sys.DB.QueryRow(t.Context(),
		"SELECT count(), uniqExact(revision) FROM record_log WHERE kind = 'vehicle'").Scan(&rows, &revisions); err != nil {
		t.Fatal(err)
	}
	if rows != 1+writers*each || revisions != rows {
		t.Errorf("%d rows of %d revisions in the log, want %d of each", rows, revisions, 1+writers*each)
	}
}
