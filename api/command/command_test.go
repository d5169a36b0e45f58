package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/traccar"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// sender is what a process that sends commands is told, in its environment.
type sender struct {
	DB      query.Config
	Traccar string
}

const senderEnv = "MOTORPOOL_TEST_SENDER"

// opened is a sender with the store that it writes to.
type opened struct {
	*Sender
	Store *record.Store
}

// openSender opens a sender through a Traccar server.
func openSender(ctx context.Context, s sender, node uint64, now func() time.Time) (*opened, error) {
	db, err := query.Open(ctx, s.DB)
	if err != nil {
		return nil, err
	}
	store, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
		fleet.NewIDSource(node, time.Now), now)
	if err != nil {
		return nil, err
	}
	d := &opened{New(store, db, now), store}
	d.Traccar, err = traccar.New(traccar.Config{URL: s.Traccar, Token: "x", Private: true})
	return d, err
}

// sendAndDie is the process that is killed: it does the duty once.
func sendAndDie(text string) int {
	var s sender
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return 2
	}
	d, err := openSender(context.Background(), s, 2, time.Now)
	if err != nil {
		return 3
	}
	if err := d.Tend(context.Background()); err != nil {
		return 4
	}
	return 0
}

// TestACommandWhoseSenderIsKilledIsSentOnceAtMost kills a process that sends a command, with SIGKILL: while it asks
// for the tracker, which leaves the command to others; when its row says that it is being sent and Traccar has not
// heard of it; and when Traccar has heard of it and not answered. In the last two nobody can tell which it was, and
// nobody sends it again.
func TestACommandWhoseSenderIsKilledIsSentOnceAtMost(t *testing.T) {
	for _, dies := range []struct {
		at     string // the request during which the process is killed, or the connection on which it would send the command
		sent   int32
		states [3]string // at once, after two minutes, after three hours
	}{
		{"GET /api/devices", 1, [3]string{record.CommandSent, record.CommandSent, record.CommandSent}},
		{"connect", 0, [3]string{record.CommandSending, record.CommandUnknown, record.CommandUnknown}},
		{"POST /api/commands/send", 1, [3]string{record.CommandSending, record.CommandUnknown, record.CommandUnknown}},
	} {
		t.Run(dies.at, func(t *testing.T) {
			var sent, connections atomic.Int32
			var victim atomic.Pointer[os.Process]
			started, gone := make(chan struct{}), make(chan struct{})
			kill := func() bool {
				<-started
				p := victim.Swap(nil)
				if p != nil {
					p.Kill()
					<-gone
				}
				return p != nil
			}
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				at := r.Method + " " + r.URL.Path
				if r.Method == http.MethodPost {
					sent.Add(1)
				}
				if at == dies.at && kill() {
					return
				}
				w.Header().Set("Connection", "close")
				fmt.Fprint(w, `[{"id":77,"uniqueId":"imei-1"}]`)
			}))
			server.Config.ConnState = func(c net.Conn, state http.ConnState) {
				if state == http.StateNew && connections.Add(1) == 2 && dies.at == "connect" && kill() {
					c.Close()
				}
			}
			server.Start()
			t.Cleanup(server.Close)
			s := sender{DB: schematest.Config(t), Traccar: server.URL}
			var later atomic.Int64
			d, err := openSender(t.Context(), s, 1, func() time.Time { return time.Now().Add(time.Duration(later.Load())) })
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.DB.Close() })
			if _, err := schemas.Apply(t.Context(), d.DB); err != nil {
				t.Fatal(err)
			}
			if err := d.Store.Own(t.Context(), account, true, "imei-1"); err != nil {
				t.Fatal(err)
			}
			device, err := d.Devices.New(t.Context(), by, account,
				record.Device{DeviceFields: record.DeviceFields{UniqueID: "imei-1"}})
			if err != nil {
				t.Fatal(err)
			}
			fields := record.DeviceCommandFields{Type: "custom", Data: "X", Confirm: true, Force: true}
			command, err := d.Queue(t.Context(), by, account, d.Store.NextID(), device.ID, fields)
			if err != nil {
				t.Fatal(err)
			}

			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), senderEnv+"="+string(text))
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			victim.Store(child.Process)
			close(started)
			err = child.Wait()
			close(gone)
			if err == nil || child.ProcessState.Exited() {
				t.Fatalf("the process was not killed: %v", err)
			}
			status := func() string {
				t.Helper()
				if err := d.Tend(t.Context()); err != nil {
					t.Fatal(err)
				}
				rec, err := d.Commands.Get(t.Context(), account, command.ID)
				if err != nil {
					t.Fatal(err)
				}
				return rec.Body.Status
			}
			for i, after := range []time.Duration{0, 2 * time.Minute, 3 * time.Hour} {
				later.Store(int64(after))
				if got := status(); got != dies.states[i] {
					t.Errorf("after %s it is %s, want %s", after, got, dies.states[i])
				}
			}
			if n := sent.Load(); n != dies.sent {
				t.Errorf("Traccar heard %d times of it, want %d", n, dies.sent)
			}
			rec, err := d.Report(t.Context(), by, account, command.ID,
				record.DeviceCommandStep{Status: record.CommandAcknowledged, Detail: "OK"}, nil)
			if err != nil || rec.Body.Status != record.CommandAcknowledged {
				t.Errorf("an answer that came all the same: %s, %v", rec.Body.Status, err)
			}
		})
	}
}

// TestManySendersSendACommandOnce has several senders do the duty at once.
func TestManySendersSendACommandOnce(t *testing.T) {
	var sent atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			sent.Add(1)
			return
		}
		fmt.Fprint(w, `[{"id":77,"uniqueId":"imei-1"}]`)
	}))
	t.Cleanup(server.Close)
	s := sender{DB: schematest.Config(t), Traccar: server.URL}
	var senders []*opened
	for node := range uint64(4) {
		d, err := openSender(t.Context(), s, node+1, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.DB.Close() })
		senders = append(senders, d)
	}
	d := senders[0]
	if _, err := schemas.Apply(t.Context(), d.DB); err != nil {
		t.Fatal(err)
	}
	if err := d.Store.Own(t.Context(), account, true, "imei-1"); err != nil {
		t.Fatal(err)
	}
	device, err := d.Devices.New(t.Context(), by, account,
		record.Device{DeviceFields: record.DeviceFields{UniqueID: "imei-1"}})
	if err != nil {
		t.Fatal(err)
	}
	const commands = 20
	for range commands {
		if _, err := d.Queue(t.Context(), by, account, d.Store.NextID(), device.ID,
			record.DeviceCommandFields{Type: "position_single"}); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, len(senders))
	for _, d := range senders {
		go func() { done <- d.Tend(t.Context()) }()
	}
	for range senders {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := sent.Load(); n != commands {
		t.Errorf("%d commands were sent %d times", commands, n)
	}
	schematest.FeedAgrees(t, d.DB, "device_commands", commands)
}
