package consume

import (
	"context"
	"errors"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"pgregory.net/rapid"
)

// commitAs stores an offset and metadata as a member that no longer exists would have left them.
func commitAs(t testing.TB, client *kafka.Client, group, topic string, offset int64, metadata string) {
	t.Helper()
	retryRefused(t, func() error {
		res, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
			GroupID: group, GenerationID: -1,
			Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: offset, Metadata: metadata}}},
		})
		if err != nil {
			return err
		}
		return res.Topics[topic][0].Error
	})
}

// checkPartition fails unless the handled ranges of a partition follow one another without gap or overlap from first to
// last, each with the records of its offsets.
func (l *ledger) checkPartition(t testing.TB, partition int, first, last int64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var ranges []Batch
	for _, b := range l.ranges {
		if b.Partition == partition {
			ranges = append(ranges, b)
		}
	}
	slices.SortFunc(ranges, func(a, b Batch) int { return int(a.First - b.First) })
	next := first
	for _, b := range ranges {
		if b.First != next {
			t.Errorf("partition %d: range %d-%d where %d was to begin one", partition, b.First, b.Last, next)
		}
		if n := len(l.values[b.Token()]); int64(n) != b.Last-b.First+1 {
			t.Errorf("partition %d: range %d-%d has %d records", partition, b.First, b.Last, n)
		}
		next = b.Last + 1
	}
	if next != last+1 {
		t.Errorf("partition %d: handled to %d, the last is %d", partition, next-1, last)
	}
}

func TestCrashAfterPlanBeforeHandle(t *testing.T) {
	p := newProcess(t, anyBroker(t))
	topic := createTopic(t, p.client, 1)
	produce(t, p.client, topic, 0, numbered("v", 20)...)
	cfg := testConfig(t)
	cfg.MaxRows = 3 // a plan holds whatever the limits are now
	commitAs(t, p.client, cfg.Group, topic, 2, "plan:1:9")

	done := newLedger()
	r := start(t, cfg, p, []string{topic}, done.handler)
	done.await(t, 18)
	if done.times[topic+"/0/2-9"] != 1 {
		t.Errorf("the planned range 2-9 was not formed: %v", done.ranges)
	}
	done.checkPartition(t, 0, 2, 19)
	if n := r.metric(t, "replans_total"); n != 1 {
		t.Errorf("replans_total is %v", n)
	}
	r.stop()
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
	if offset, metadata := committed(t, newProcess(t, p.client.Addr.String()).client, cfg.Group, topic); offset != 20 ||
		metadata != "" {
		t.Errorf("committed %d %q", offset, metadata)
	}
}

func TestCrashBetweenHandleAndCommit(t *testing.T) {
	addr := startBroker(t).ListenAddrs()[0]
	admin := newProcess(t, addr)
	topic := createTopic(t, admin.client, 1)
	produce(t, admin.client, topic, 0, numbered("v", 7)...)
	cfg := testConfig(t)
	cfg.Grace, cfg.SessionTimeout = 100*time.Millisecond, 400*time.Millisecond

	done := newLedger()
	first := newProcess(t, addr)
	handled := make(chan string, 1)
	start(t, cfg, first, []string{topic}, func(string, int) Handler {
		return handle(func(ctx context.Context, b *Batch) error {
			_ = done.Handle(ctx, b)
			first.kill()
			select {
			case handled <- b.Token():
			default:
			}
			return nil
		})
	})
	token := <-handled
	if offset, metadata := committed(t, admin.client, cfg.Group, topic); offset != 0 || metadata != "plan:1:6" {
		t.Fatalf("the crash left offset %d, metadata %q", offset, metadata)
	}
	// More records than before: without the plan, the next owner would take them into the same batch.
	produce(t, admin.client, topic, 0, numbered("w", 5)...)
	start(t, cfg, newProcess(t, addr), []string{topic}, done.handler)
	done.await(t, 12)
	if done.times[token] != 2 {
		t.Errorf("range %s was handled %d times, all: %v", token, done.times[token], done.times)
	}
	done.checkPartition(t, 0, 0, 11)
}

func TestPlanIsNotHandledInPart(t *testing.T) {
	p := newProcess(t, startBroker(t).ListenAddrs()[0])
	topic := createTopic(t, p.client, 1)
	produce(t, p.client, topic, 0, numbered("v", 5)...)
	cfg := testConfig(t)
	cfg.PlanWait = time.Hour
	commitAs(t, p.client, cfg.Group, topic, 0, "plan:1:9")
	done := newLedger()
	r := start(t, cfg, p, []string{topic}, done.handler)
	eventually(t, "the records are fetched", func() bool { return r.metric(t, "lag") == 5 })
	r.stop()
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	if len(done.ranges) != 0 {
		t.Errorf("a part of a plan was handled: %v", done.ranges)
	}
	if offset, metadata := committed(t, newProcess(t, p.client.Addr.String()).client, cfg.Group, topic); offset != 0 ||
		metadata != "plan:1:9" {
		t.Errorf("committed %d %q", offset, metadata)
	}
}

func TestHandlerFailsThreeTimesThenSucceeds(t *testing.T) {
	p := newProcess(t, anyBroker(t))
	topic := createTopic(t, p.client, 1)
	produce(t, p.client, topic, 0, numbered("v", 10)...)
	cfg := testConfig(t)
	cfg.MaxRows = 5
	done := newLedger()
	failures := 0
	var tokens []string
	r := start(t, cfg, p, []string{topic}, func(string, int) Handler {
		return handle(func(ctx context.Context, b *Batch) error {
			tokens = append(tokens, b.Token())
			if failures < 3 {
				failures++
				return errors.New("the store does not answer")
			}
			return done.Handle(ctx, b)
		})
	})
	done.await(t, 10)
	r.stop()
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	want := []string{topic + "/0/0-4", topic + "/0/0-4", topic + "/0/0-4", topic + "/0/0-4", topic + "/0/5-9"}
	if !slices.Equal(tokens, want) {
		t.Errorf("batches were handled in the order %v", tokens)
	}
	if n := r.metric(t, "handle_errors_total"); n != 3 {
		t.Errorf("handle_errors_total is %v", n)
	}
}

func TestFatalErrorStopsTheConsumer(t *testing.T) {
	p := newProcess(t, anyBroker(t))
	topic := createTopic(t, p.client, 2)
	produce(t, p.client, topic, 0, "v")
	cfg := testConfig(t)
	broken := errors.New("an invariant is broken")
	r := start(t, cfg, p, []string{topic}, func(string, int) Handler {
		return handle(func(context.Context, *Batch) error { return errors.Join(broken, ErrFatal) })
	})
	if err := r.wait(t); !errors.Is(err, broken) {
		t.Errorf("Run returned %v", err)
	}
	if offset, metadata := committed(t, newProcess(t, p.client.Addr.String()).client, cfg.Group, topic); offset != 0 ||
		metadata != "plan:1:0" {
		t.Errorf("committed %d %q: the batch must stay planned", offset, metadata)
	}
}

func TestGracefulStopHandlesAndCommitsTheOpenBatch(t *testing.T) {
	p := newProcess(t, anyBroker(t))
	topic := createTopic(t, p.client, 1)
	produce(t, p.client, topic, 0, numbered("v", 10)...)
	cfg := testConfig(t)
	cfg.Linger = time.Hour
	done := newLedger()
	r := start(t, cfg, p, []string{topic}, done.handler)
	eventually(t, "the records are fetched", func() bool { return r.metric(t, "lag") == 10 })
	if done.records() != 0 {
		t.Fatal("the batch was closed before it was due")
	}
	r.stop()
	if err := r.wait(t); err != nil {
		t.Fatal(err)
	}
	done.checkPartition(t, 0, 0, 9)
	admin := newProcess(t, p.client.Addr.String())
	if offset, metadata := committed(t, admin.client, cfg.Group, topic); offset != 10 || metadata != "" {
		t.Errorf("committed %d %q", offset, metadata)
	}
	groups, err := admin.client.DescribeGroups(t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{cfg.Group}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(groups.Groups[0].Members); n != 0 {
		t.Errorf("the group still has %d members", n)
	}
}

func TestStopWhileTheHandlerHangsEndsWithinTheGracePeriod(t *testing.T) {
	p := newProcess(t, anyBroker(t))
	topic := createTopic(t, p.client, 1)
	produce(t, p.client, topic, 0, "v")
	cfg := testConfig(t)
	cfg.Grace = 100 * time.Millisecond
	entered := make(chan struct{}, 1)
	r := start(t, cfg, p, []string{topic}, func(string, int) Handler {
		return handle(func(ctx context.Context, _ *Batch) error {
			entered <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
	})
	<-entered
	r.stop()
	if err := r.wait(t); err != nil {
		t.Errorf("Run returned %v", err)
	}
	if offset, metadata := committed(t, newProcess(t, p.client.Addr.String()).client, cfg.Group, topic); offset != 0 ||
		metadata != "plan:1:0" {
		t.Errorf("committed %d %q: the batch must stay planned", offset, metadata)
	}
}

// TestKillsAtRandom kills consumers at random moments while records arrive in random batches. Whatever happens, every
// record is handled and the ranges that were handled divide the log: no record is in two different ranges, so a store
// that knows their tokens has every record once.
func TestKillsAtRandom(t *testing.T) {
	addr := startBroker(t).ListenAddrs()[0]
	admin := newProcess(t, addr)
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		_ = checks.Value.Set("20") // a check takes half a second
		t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
	}
	rapid.Check(t, func(rt *rapid.T) {
		const partitions = 2
		topic := createTopic(t, admin.client, partitions)
		cfg := testConfig(t)
		cfg.MaxRows = rapid.IntRange(1, 30).Draw(rt, "rows")
		cfg.Linger = time.Duration(rapid.IntRange(1, 30).Draw(rt, "linger ms")) * time.Millisecond
		cfg.Grace, cfg.SessionTimeout, cfg.RebalanceTimeout = 50*time.Millisecond, 160*time.Millisecond, 300*time.Millisecond
		done := newLedger()
		var ends [partitions]int64
		total := 0
		for range rapid.IntRange(1, 4).Draw(rt, "kills") {
			for n := rapid.IntRange(0, 4).Draw(rt, "appends"); n > 0; n-- {
				partition := rapid.IntRange(0, partitions-1).Draw(rt, "partition")
				values := numbered("v", rapid.IntRange(1, 40).Draw(rt, "records"))
				produce(t, admin.client, topic, partition, values...)
				ends[partition] += int64(len(values))
				total += len(values)
			}
			victim := newProcess(t, addr)
			batches := rapid.IntRange(0, 4).Draw(rt, "batches before the kill")
			before := rapid.Bool().Draw(rt, "killed before the batch is stored")
			killed := make(chan struct{}, partitions)
			r := start(t, cfg, victim, []string{topic}, func(string, int) Handler {
				seen := 0
				return handle(func(ctx context.Context, b *Batch) error {
					if seen++; seen > batches {
						if !before {
							_ = done.Handle(ctx, b)
						}
						victim.kill()
						select {
						case killed <- struct{}{}:
						default:
						}
						return errors.New("killed")
					}
					return done.Handle(ctx, b)
				})
			})
			if done.records() < total {
				select {
				case <-killed:
				case <-time.After(time.Duration(rapid.IntRange(1, 300).Draw(rt, "ms to live")) * time.Millisecond):
				}
			}
			victim.kill()
			r.stop()
		}
		survivor := start(t, cfg, newProcess(t, addr), []string{topic}, done.handler)
		done.await(t, total)
		for partition, end := range ends {
			done.checkPartition(t, partition, 0, end-1)
		}
		eventually(t, "everything is committed", func() bool {
			lag, err := Lag(t.Context(), admin.client, cfg.Group, []string{topic})
			return err == nil && lag[0].Records()+lag[1].Records() == 0
		})
		survivor.stop()
		if err := survivor.wait(t); err != nil {
			t.Fatal(err)
		}
	})
}

// TestOnlyTheFirstCallForARangeIsAlone has a planned range, a call that fails, and a partition that is lost.
func TestOnlyTheFirstCallForARangeIsAlone(t *testing.T) {
	addr := startBroker(t).ListenAddrs()[0]
	admin := newProcess(t, addr)
	topic := createTopic(t, admin.client, 1)
	produce(t, admin.client, topic, 0, numbered("v", 5)...)
	cfg := testConfig(t)
	commitAs(t, admin.client, cfg.Group, topic, 0, "plan:1:4")

	type call struct {
		first int64
		alone bool
	}
	calls, lost := make(chan call, 10), make(chan struct{})
	r := start(t, cfg, newProcess(t, addr), []string{topic}, func(string, int) Handler {
		failed := false
		return handle(func(ctx context.Context, b *Batch) error {
			if b.First == 10 {
				calls <- call{b.First, b.Alone(ctx)}
				<-lost
			}
			calls <- call{b.First, b.Alone(ctx)}
			if b.First == 5 && !failed {
				failed = true
				return errors.New("once")
			}
			return nil
		})
	})
	expect := func(want ...call) {
		t.Helper()
		for _, w := range want {
			if got := <-calls; got != w {
				t.Errorf("%+v, want %+v", got, w)
			}
		}
	}
	expect(call{0, false}) // a range that was planned before
	produce(t, admin.client, topic, 0, numbered("w", 5)...)
	expect(call{5, true}, call{5, false})
	produce(t, admin.client, topic, 0, numbered("x", 5)...)
	expect(call{10, true})
	other, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: cfg.Group, Brokers: []string{addr}, Dialer: admin.dialer, Topics: []string{topic},
		HeartbeatInterval: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	joined := make(chan error, 1)
	go func() {
		_, err := other.Next(t.Context())
		joined <- err
	}()
	r.stop() // so that its worker waits for the batch in hand, and its group is joined no more
	if err := <-joined; err != nil {
		t.Fatal(err)
	}
	close(lost)
	expect(call{10, false})
}

// TestWhatWasReachedIsNotHandledAgain has a call that fails and an owner that dies, each in the middle of a
// planned range.
func TestWhatWasReachedIsNotHandledAgain(t *testing.T) {
	addr := startBroker(t).ListenAddrs()[0]
	admin := newProcess(t, addr)
	topic := createTopic(t, admin.client, 1)
	produce(t, admin.client, topic, 0, numbered("v", 10)...)
	cfg := testConfig(t)
	cfg.Grace, cfg.SessionTimeout = 100*time.Millisecond, 400*time.Millisecond
	commitAs(t, admin.client, cfg.Group, topic, 0, "plan:1:9")

	first, tokens := newProcess(t, addr), make(chan string, 10)
	start(t, cfg, first, []string{topic}, func(string, int) Handler {
		return handle(func(ctx context.Context, b *Batch) error {
			tokens <- b.Token()
			if b.First >= 7 {
				b.Alone(ctx)
				first.kill()
				return nil
			}
			return errors.Join(errors.New("once more"), b.Reached(ctx, map[int64]int64{0: 4, 4: 7}[b.First]))
		})
	})
	for _, want := range []string{"/0/0-9", "/0/4-9", "/0/7-9"} {
		if got := <-tokens; got != topic+want {
			t.Errorf("handled %s, want %s", got, want)
		}
	}
	produce(t, admin.client, topic, 0, numbered("w", 5)...)
	done := newLedger()
	start(t, cfg, newProcess(t, addr), []string{topic}, done.handler)
	done.await(t, 8)
	if done.times[topic+"/0/7-9"] != 1 {
		t.Errorf("the rest of the range was not formed again: %v", done.ranges)
	}
	done.checkPartition(t, 0, 7, 14)
}
