// Package stream measures the live stream: many open connections against a real "motorpool serve", one of which takes
// nothing, and events that are published to Kafka meanwhile. It reports what a connection costs in memory, and how long
// an event takes from its publication until a client has it.
package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/system"
)

// Options say how large the run is.
type Options struct {
	Connections int           // that read
	Events      int           // published one after the other
	Every       time.Duration // pause between two events
	Settle      time.Duration // before memory is read
}

// perKey is how many streams a key may have open, and keys are made accordingly.
const perKey = 100

// Result is what a run has found.
type Result struct {
	Connections int
	Received    int64 // events, by all connections together
	Before      int64 // bytes resident in the process, without connections
	Open        int64 // with all of them idle
	After       int64 // after the events
	P50, P99    time.Duration
	Slowest     time.Duration
}

// Write writes the result as a paragraph of Markdown.
func (r Result) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d connections, and a stalled one: %.1f kB resident for an idle connection (%.1f MB before, %.1f MB open, %.1f MB after the events). "+
		"%d events received; published to received: p50 %v, p99 %v, slowest %v.\n",
		r.Connections, float64(r.Open-r.Before)/float64(r.Connections)/1000, float64(r.Before)/1e6, float64(r.Open)/1e6,
		float64(r.After)/1e6, r.Received, r.P50.Round(time.Millisecond/10), r.P99.Round(time.Millisecond/10),
		r.Slowest.Round(time.Millisecond/10))
	return err
}

// Run opens the connections against a serve process that runs in s, publishes and measures. An event that somebody does
// not get, or gets twice or out of order, is an error.
func Run(ctx context.Context, s *system.System, pid int, o Options) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	result := Result{Connections: o.Connections}
	account, keys, err := credentials(ctx, s, o.Connections+1)
	if err != nil {
		return result, err
	}
	if result.Before, err = resident(pid); err != nil {
		return result, err
	}
	stalled, err := stall(s.URL(), keys[0])
	if err != nil {
		return result, err
	}
	defer stalled.Close()

	c := &crowd{events: o.Events, all: make(chan struct{}), published: make([]atomic.Int64, o.Events),
		latencies: make([][]time.Duration, o.Connections)}
	c.left.Store(int64(o.Connections))
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0, MaxIdleConnsPerHost: o.Connections}}
	var readers errgroup.Group
	opening := make(chan struct{}, 32)
	var opened sync.WaitGroup
	for i := range o.Connections {
		opened.Add(1)
		readers.Go(func() error {
			opening <- struct{}{}
			body, err := open(ctx, client, s.URL(), keys[(i+1)/perKey])
			<-opening
			opened.Done()
			if err != nil {
				cancel()
				return err
			}
			defer body.Close()
			if err := c.read(body, i); err != nil {
				cancel()
				return fmt.Errorf("connection %d: %w", i, err)
			}
			return nil
		})
	}
	opened.Wait()
	if ctx.Err() == nil {
		pause(ctx, o.Settle)
		if result.Open, err = resident(pid); err == nil {
			err = c.publish(ctx, s.Kafka(), account, o)
		}
		if err != nil {
			cancel()
		}
	}
	select {
	case <-c.all:
	case <-ctx.Done():
	case <-time.After(2 * time.Minute):
		err = errors.Join(err, fmt.Errorf("%d connections still wait for events", c.left.Load()))
		cancel()
	}
	result.After, _ = resident(pid)
	cancel()
	if readErr := readers.Wait(); err == nil {
		err = readErr
	}
	c.sum(&result)
	return result, err
}

// credentials makes an account and as many keys as n connections need.
func credentials(ctx context.Context, s *system.System, n int) (fleet.AccountID, []string, error) {
	admin, err := s.Output("key", "create", "--account", "Stream", "--scopes", "admin")
	if err != nil {
		return 0, nil, err
	}
	var account struct{ ID string }
	if err := call(ctx, s.URL(), admin, http.MethodGet, "/v1/account", "", &account); err != nil {
		return 0, nil, err
	}
	id, err := fleet.ParseID(fleet.AccountPrefix, account.ID)
	if err != nil {
		return 0, nil, err
	}
	var keys []string
	for range (n + perKey) / perKey {
		var made struct{ Key string }
		if err := call(ctx, s.URL(), admin, http.MethodPost, "/v1/api_keys", `{"name":"stream","scopes":["telematics:read"]}`,
			&made); err != nil {
			return 0, nil, err
		}
		keys = append(keys, made.Key)
	}
	return fleet.AccountID(id), keys, nil
}

// call makes a request, trying again for a while as long as nobody listens yet.
func call(ctx context.Context, url, key, method, path, body string, into any) error {
	for deadline := time.Now().Add(time.Minute); ; {
		req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			if ctx.Err() != nil || time.Now().After(deadline) {
				return err
			}
			pause(ctx, 100*time.Millisecond)
			continue
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		if res.StatusCode >= 300 {
			return fmt.Errorf("%s %s: status %d: %s", method, path, res.StatusCode, text)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(text, into)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// stall opens a stream and takes nothing of it.
func stall(url, key string) (net.Conn, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetReadBuffer(1 << 10)
	}
	if err == nil {
		_, err = fmt.Fprintf(conn, "GET /v1/stream HTTP/1.1\r\nHost: stalled\r\nAuthorization: Bearer %s\r\n\r\n", key)
	}
	return conn, err
}

// open opens a stream and returns when the server has answered.
func open(ctx context.Context, client *http.Client, url, key string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/stream", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return nil, fmt.Errorf("open a stream: status %d: %s", res.StatusCode, text)
	}
	return res.Body, nil
}

// crowd is all who read.
type crowd struct {
	events    int
	left      atomic.Int64   // connections that have not got all events
	all       chan struct{}  // closed when that is zero
	published []atomic.Int64 // when each event was, ns since 1970
	latencies [][]time.Duration
}

// read reads a stream to its end, which is an error only before all events have come.
func (c *crowd) read(body io.Reader, i int) error {
	next, last := 0, uint64(0)
	lines := bufio.NewReaderSize(body, 4<<10)
	var id uint64
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			if next == c.events {
				return nil
			}
			return fmt.Errorf("after %d of %d events: %w", next, c.events, err)
		}
		if text, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			if id, err = strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 64); err != nil {
				return err
			}
			continue
		}
		text, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		now := time.Now()
		var e struct {
			Data struct{ Object struct{ Fixes int } }
		}
		if err := json.Unmarshal(text, &e); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if e.Data.Object.Fixes != next+1 || id <= last {
			return fmt.Errorf("event %d with id %d came after event %d with id %d", e.Data.Object.Fixes, id, next, last)
		}
		next, last = next+1, id
		c.latencies[i] = append(c.latencies[i], now.Sub(time.Unix(0, c.published[next-1].Load())))
		if next == c.events && c.left.Add(-1) == 0 {
			close(c.all)
		}
	}
}

// publish publishes events one by one as the pipeline does: each is a trip with its number as the count of fixes.
func (c *crowd) publish(ctx context.Context, broker string, account fleet.AccountID, o Options) error {
	writer := &kafka.Writer{Addr: kafka.TCP(broker), Topic: "events", RequiredAcks: kafka.RequireAll,
		BatchTimeout: time.Millisecond}
	defer writer.Close()
	// The writer's first message waits for its connections; this one is nobody's.
	if err := writer.WriteMessages(ctx, kafka.Message{Value: []byte("{}")}); err != nil {
		return err
	}
	for n := range o.Events {
		body, err := json.Marshal(&fleet.Trip{Fixes: n + 1})
		if err != nil {
			return err
		}
		value, err := json.Marshal(fleet.Event{
			ID: uint64(n + 1), Type: fleet.EventTripUpdated, Account: account, Vehicle: 1, At: fleet.MillisOf(time.Now()),
			Kind:   fleet.KindTrip,
			Object: 1, Revision: uint32(n + 1), Body: body,
		})
		if err != nil {
			return err
		}
		c.published[n].Store(time.Now().UnixNano())
		if err := writer.WriteMessages(ctx, kafka.Message{Value: value}); err != nil {
			return err
		}
		pause(ctx, o.Every)
	}
	return nil
}

// sum puts together what the connections have seen, after all of them have ended.
func (c *crowd) sum(r *Result) {
	all := slices.Concat(c.latencies...)
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	r.Received = int64(len(all))
	r.P50, r.P99, r.Slowest = all[len(all)/2], all[len(all)*99/100], all[len(all)-1]
}

// resident returns how much memory a process has, in bytes. It is 0 where the system does not say.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("memory of process %d: %q", pid, text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
