package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// registering is a replay of some vehicles that are to be made.
func registering(t *testing.T, vehicles int) (*replay, *bytes.Buffer) {
	t.Helper()
	text := strings.Builder{}
	text.WriteString("vehicle,timestamp,lat,lng\n")
	for i := range vehicles {
		fmt.Fprintf(&text, "%d,2017-03-21T05:00:20Z,3,0.5\n", i)
	}
	r := sending(t, &replayCommand{Speed: "max", Account: "Acme", Register: true}, text.String(), nil)
	said := &bytes.Buffer{}
	r.out = output{io.Discard, said}
	return r, said
}

func registered(t *testing.T, db driver.Conn, r *replay, want int) {
	t.Helper()
	refs, err := query.ExternalRefs(t.Context(), db, r.account, recordingSystem)
	if err != nil {
		t.Fatal(err)
	}
	if len(refs.Vehicles) != want || len(refs.Devices) != want || len(r.unique) != want {
		t.Errorf("%d vehicles and %d devices are there, want %d of each", len(refs.Vehicles), len(refs.Devices), want)
	}
}

// A process that was killed between a claim and its record holds the value until the claim is old enough.
func TestAReplayWaitsForClaimsThatAKilledOneLeftBehind(t *testing.T) {
	db := schematest.Open(t)
	all, err := newRecords(db)
	if err != nil {
		t.Fatal(err)
	}
	account, err := all.account(t.Context(), "Acme", true)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Exec(t.Context(),
		fmt.Sprintf(`INSERT INTO claim_log (account, field, value, revision, write_id, owner, at, detail)
		VALUES (%d, 'vehicle.external_ref', 'recording\x1f1', 1, 5, 123456789, now64(3) - toIntervalMillisecond(%d), '%d')`,
			account, record.DefaultConfig().Abandoned.Milliseconds()-2000, account))
	if err != nil {
		t.Fatal(err)
	}
	r, said := registering(t, 3)
	if err := untilDone(t.Context(), func() error { return r.resolve(t.Context(), db) }, said); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	registered(t, db, r, 3)
	if n := strings.Count(said.String(), "died while it did"); n != 1 {
		t.Errorf("told %d times what it waits for: %s", n, said)
	}
}

func TestAReplayGoesOnAfterItsConnectionBroke(t *testing.T) {
	config := schematest.Config(t)
	straight, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer straight.Close()
	if _, err := schemas.Apply(t.Context(), straight); err != nil {
		t.Fatal(err)
	}
	line := &breaking{}
	config.Addrs = []string{line.to(t, config.Addrs[0])}
	db, err := query.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// What is broken in between may be done again without a word.
	line.breaks.Store(3)
	r, said := registering(t, 40)
	if err := untilDone(t.Context(), func() error { return r.resolve(t.Context(), db) }, said); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	registered(t, straight, r, 40)
	if line.breaks.Load() > 0 {
		t.Errorf("%d breaks are left; told: %s", line.breaks.Load(), said)
	}
	// What stays away is told, and waited for.
	line.away.Store(true)
	r, _ = registering(t, 45)
	told := &tellingOf{line: line}
	if err := untilDone(t.Context(), func() error { return r.resolve(t.Context(), db) }, told); err != nil {
		t.Fatalf("%v\n%s", err, told.said.String())
	}
	registered(t, straight, r, 45)
	if !strings.Contains(told.said.String(), "ClickHouse does not answer") {
		t.Errorf("told: %s", told.said.String())
	}
}

// tellingOf has a server be there again as soon as somebody is told that it is away.
type tellingOf struct {
	line *breaking
	said bytes.Buffer
}

func (w *tellingOf) Write(text []byte) (int, error) {
	w.line.away.Store(false)
	return w.said.Write(text)
}

// breaking is a line to a server.
type breaking struct {
	breaks atomic.Int32 // connections that are still to be broken, each after it has said some 4 kB
	away   atomic.Bool  // nothing of what is said arrives
}

// to returns the address at which the line to a server begins.
func (l *breaking) to(t *testing.T, server string) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	go func() {
		for {
			client, err := socket.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(client, far)
				client.Close()
			}()
			go func() {
				defer client.Close()
				defer far.Close()
				text := make([]byte, 4_000)
				for said := 0; ; {
					n, err := client.Read(text)
					if err != nil || l.away.Load() {
						return
					}
					if _, err := far.Write(text[:n]); err != nil {
						return
					}
					if said += n; said >= len(text) {
						if said = 0; l.breaks.Add(-1) >= 0 {
							return
						}
					}
				}
			}()
		}
	}()
	return socket.Addr().String()
}
