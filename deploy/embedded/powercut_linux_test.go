package embedded_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet/deploy/embedded"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

// A record, a segment that was begun with it, a commit and the topics themselves: what was acknowledged is there after
// a power cut, in the files and in the folders that name them.
func TestAcknowledgedRecordsAndCommitsSurviveAPowerCut(t *testing.T) {
	for how, synced := range map[string]bool{" sync": true, "": false} {
		disk := embeddedtest.NewDisk(t, 300)
		dir := filepath.Join(disk.Dir, "kafka")
		addr, kill := startHelper(t, "broker "+dir+" 127.0.0.1:0"+how)
		client := &kafka.Client{Addr: kafka.TCP(addr), Transport: &kafka.Transport{}}
		createTopic(t, client, "positions", 1)
		large := strings.Repeat("x", 900_000)
		for range 40 { // beyond one segment of 32 MB
			produce(t, addr, "positions", large)
		}
		produce(t, addr, "positions", "last")
		commit(t, client, "pipeline", "positions", 0, 40, "last=40")
		disk.CutPower()
		kill()
		disk.RestorePower()

		addr, kill = startHelper(t, "broker "+dir+" 127.0.0.1:0")
		client = &kafka.Client{Addr: kafka.TCP(addr), Transport: &kafka.Transport{}}
		resp, err := client.OffsetFetch(soon(t),
			&kafka.OffsetFetchRequest{GroupID: "pipeline", Topics: map[string][]int{"positions": {0}}})
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.ContainsFunc(resp.Topics["positions"], func(p kafka.OffsetFetchPartition) bool {
			return p.CommittedOffset == 40 && p.Metadata == "last=40"
		})
		if kept != synced {
			t.Errorf("sync %v: the commit after the cut: %v", synced, resp.Topics)
		}
		if synced {
			if got := fmt.Sprint(consume(t, addr, "positions", 40, 1)); got != "[last]" {
				t.Errorf("the last record after the cut: %v", got)
			}
		}
		kill()
	}
}

// Records come from several sides, or one after the other, when the power goes. What was acknowledged before is there.
// Of what is acknowledged while it goes nothing is promised (see Disk.CutPower): the log of the test says what of it is
// lost.
func TestWhatWasAcknowledgedUnderLoadSurvivesAPowerCut(t *testing.T) {
	for _, producers := range []int{1, 1, 1, 4} {
		disk := embeddedtest.NewDisk(t, 100)
		dir := filepath.Join(disk.Dir, "kafka")
		addr, kill := startHelper(t, "broker "+dir+" 127.0.0.1:0 sync")
		createTopic(t, &kafka.Client{Addr: kafka.TCP(addr), Transport: &kafka.Transport{}}, "positions", producers)
		told := make([]atomic.Int64, producers) // how many of its records each producer heard to be kept
		var all sync.WaitGroup
		for p := range producers {
			all.Go(func() {
				w := &kafka.Writer{Addr: kafka.TCP(addr), Topic: "positions", RequiredAcks: kafka.RequireAll, BatchSize: 1,
					MaxAttempts: 1, Balancer: kafka.BalancerFunc(func(kafka.Message, ...int) int { return p })}
				defer w.Close()
				for w.WriteMessages(t.Context(), kafka.Message{Value: make([]byte, 300)}) == nil {
					told[p].Add(1)
				}
			})
		}
		for told[0].Load() < 50 {
			time.Sleep(time.Millisecond)
		}
		before := make([]int64, producers)
		for p := range before {
			before[p] = told[p].Load()
		}
		disk.CutPower()
		time.Sleep(20 * time.Millisecond) // for the answers that are under way
		kill()
		all.Wait()
		disk.RestorePower()

		addr, kill = startHelper(t, "broker "+dir+" 127.0.0.1:0")
		for p := range before {
			conn, err := kafka.DialLeader(soon(t), "tcp", addr, "positions", p)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := conn.ReadLastOffset()
			conn.Close()
			if err != nil || kept < before[p] {
				t.Errorf("producer %d heard of %d records before the cut, and %d are there: %v", p, before[p], kept, err)
			}
			if after := told[p].Load(); kept < after {
				t.Logf("producer %d heard of %d records while the power went, and %d are there", p, after, kept)
			}
		}
		kill()
	}
}

// A batch whose offset was not committed when the power went is inserted again, with the same token.
func TestInsertRepeatedAfterAPowerCutIsStoredOnce(t *testing.T) {
	start(t, t.TempDir()) // skips where there is no library
	disk := embeddedtest.NewDisk(t, 300)
	config := testConfig(filepath.Join(disk.Dir, "clickhouse"))
	config.Sync = true
	const insert = "INSERT INTO motorpool.trips SETTINGS insert_deduplication_token = 'positions/0/1-2' VALUES ('a'), ('b')"
	ch, err := embedded.StartClickHouse(soon(t), config)
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, ch.Addr(), "motorpool", appPassword, clickhouse.Native)
	mustExec(t, db, "CREATE DATABASE motorpool",
		"CREATE TABLE motorpool.trips (account String) ENGINE = MergeTree ORDER BY account SETTINGS non_replicated_deduplication_window = 100")
	if err := embedded.SyncTokens(config.Dir); err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, insert)
	disk.CutPower()
	_ = ch.Stop(soon(t))
	disk.RestorePower()

	if ch, err = embedded.StartClickHouse(soon(t), config); err != nil {
		t.Fatal(err)
	}
	defer ch.Stop(soon(t))
	wantTrips(t, ch, 2)
	mustExec(t, open(t, ch.Addr(), "motorpool", appPassword, clickhouse.Native), insert)
	wantTrips(t, ch, 2)
}
