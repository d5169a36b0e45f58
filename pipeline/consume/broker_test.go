package consume

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
)

// brokerProcess, in the environment, makes the test binary a broker in a process of its own, for benchmarks.
const brokerProcess = "MOTORPOOL_TEST_BROKER_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(brokerProcess) != "" {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(cluster.ListenAddrs()[0])
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is gone
		cluster.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startBrokerProcess starts a broker outside this process and returns its address.
func startBrokerProcess(t testing.TB) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), brokerProcess+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(addr)
}

// startBroker starts a broker in this process, for tests that need its faults.
func startBroker(t testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1),
		kfake.GroupMinSessionTimeout(100 * time.Millisecond),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// anyBroker returns the address of a broker for tests that only use the protocol: the one in MOTORPOOL_TEST_KAFKA, or
// one of this process.
func anyBroker(t testing.TB) string {
	t.Helper()
	if addr := os.Getenv("MOTORPOOL_TEST_KAFKA"); addr != "" {
		return addr
	}
	return startBroker(t).ListenAddrs()[0]
}

// process is what the brokers see of one process: its connections. kill cuts them all at once and for good, as if its
// machine had lost power: nothing more is sent, not even a word to leave the group or to close a connection. (kill -9
// does close them, but kfake never expires a member whose connection breaks while it answers its join.)
type process struct {
	client *kafka.Client
	dialer *kafka.Dialer

	mu     sync.Mutex
	dead   bool
	conns  []net.Conn
	damage func(p []byte) // what the network does to bytes that come; nil for nothing
}

func newProcess(t testing.TB, addr string) *process {
	p := &process{}
	transport := &kafka.Transport{Dial: p.dial, MetadataTTL: 200 * time.Millisecond}
	p.client = &kafka.Client{Addr: kafka.TCP(addr), Transport: transport}
	p.dialer = &kafka.Dialer{DialFunc: p.dial, Timeout: 5 * time.Second}
	t.Cleanup(func() {
		p.kill()
		transport.CloseIdleConnections()
		for _, conn := range p.conns {
			_ = conn.Close()
		}
	})
	return p
}

var errDead = errors.New("the process is dead")

func (p *process) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		_ = conn.Close()
		return nil, errDead
	}
	p.conns = append(p.conns, conn)
	return &mortalConn{conn, p}, nil
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for _, conn := range p.conns {
		_ = conn.SetDeadline(time.Unix(1, 0))
	}
}

// whileAlive calls f unless the process is dead.
func (p *process) whileAlive(f func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return errDead
	}
	return f()
}

// mortalConn is a connection of a process; once that is dead, it stays open and does nothing.
type mortalConn struct {
	net.Conn
	p *process
}

func (c *mortalConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.p.damage != nil {
		c.p.damage(p[:n])
	}
	return n, err
}

func (c *mortalConn) Close() error { return c.p.whileAlive(c.Conn.Close) }
func (c *mortalConn) SetDeadline(t time.Time) error {
	return c.p.whileAlive(func() error { return c.Conn.SetDeadline(t) })
}
func (c *mortalConn) SetReadDeadline(t time.Time) error {
	return c.p.whileAlive(func() error { return c.Conn.SetReadDeadline(t) })
}
func (c *mortalConn) SetWriteDeadline(t time.Time) error {
	return c.p.whileAlive(func() error { return c.Conn.SetWriteDeadline(t) })
}

// testConfig makes everything happen soon.
func testConfig(t testing.TB) Config {
	c := DefaultConfig(uniqueName(t, "group"))
	c.Linger = 20 * time.Millisecond
	c.FetchWait = 100 * time.Millisecond
	c.Grace = 2 * time.Second
	c.RetryMin, c.RetryMax = 5*time.Millisecond, 50*time.Millisecond
	c.PlanWait = 200 * time.Millisecond
	c.SessionTimeout, c.RebalanceTimeout = 6*time.Second, 6*time.Second
	c.HeartbeatInterval = 50 * time.Millisecond
	c.PartitionWatch = 50 * time.Millisecond
	c.JoinBackoff = 50 * time.Millisecond
	return c
}

var unique struct {
	sync.Mutex
	n int
}

// uniqueName is new in every run, so that a real broker can be used again and again.
func uniqueName(t testing.TB, what string) string {
	unique.Lock()
	defer unique.Unlock()
	unique.n++
	return fmt.Sprintf("%s-%d-%d-%d", what, os.Getpid(), time.Now().UnixMilli(), unique.n)
}

// createTopic makes a topic and deletes it after the test.
func createTopic(t testing.TB, client *kafka.Client, partitions int, config ...kafka.ConfigEntry) string {
	t.Helper()
	topic := uniqueName(t, "topic")
	res, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: topic, NumPartitions: partitions, ReplicationFactor: 1, ConfigEntries: config,
	}}})
	if err == nil {
		err = res.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

// produce writes values to a partition, one record batch per call, and returns the offset of the first.
func produce(t testing.TB, client *kafka.Client, topic string, partition int, values ...string) int64 {
	t.Helper()
	records := make([]kafka.Record, len(values))
	for i, v := range values {
		records[i] = kafka.Record{
			Time: time.UnixMilli(1_700_000_000_000), Key: kafka.NewBytes([]byte("k")), Value: kafka.NewBytes([]byte(v)),
		}
	}
	return produceRecords(t, client, topic, partition, 0, records)
}

func produceRecords(t testing.TB, client *kafka.Client, topic string, partition int, c kafka.Compression,
	records []kafka.Record) int64 {
	t.Helper()
	var base int64
	retryRefused(t, func() error {
		res, err := client.Produce(t.Context(), &kafka.ProduceRequest{
			Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll, Compression: c,
			Records: kafka.NewRecordReader(records...),
		})
		if err != nil {
			return err
		}
		base = res.BaseOffset
		return res.Error
	})
	return base
}

// retryRefused repeats what a broker refuses for the moment, because a topic or a group is new to it.
func retryRefused(t testing.TB, f func() error) {
	t.Helper()
	var err error
	eventually(t, "the broker is ready", func() bool {
		err = f()
		return !errors.Is(err, kafka.NotLeaderForPartition) && !errors.Is(err, kafka.UnknownTopicOrPartition) &&
			!errors.Is(err, kafka.NotCoordinatorForGroup) && !errors.Is(err, kafka.GroupCoordinatorNotAvailable) &&
			!errors.Is(err, kafka.GroupLoadInProgress)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// numbered returns n values prefix-0, prefix-1 and so on.
func numbered(prefix string, n int) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return values
}

// running is a consumer that runs in the background.
type running struct {
	*Consumer
	registry *prometheus.Registry
	stop     context.CancelFunc
	done     chan error // gets Run's result
}

func start(t testing.TB, cfg Config, p *process, topics []string,
	handler func(topic string, partition int) Handler) *running {
	t.Helper()
	registry := prometheus.NewRegistry()
	log := slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c, err := New(cfg, p.client, p.dialer, topics, handler, registry, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Consumer: c, registry: registry, stop: cancel, done: make(chan error, 1)}
	go func() { r.done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		p.kill()
	})
	return r
}

// wait waits for Run to return.
func (r *running) wait(t testing.TB) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("Run does not return")
		return nil
	}
}

// metric sums a metric over its topics and partitions.
func (r *running) metric(t testing.TB, name string) float64 {
	t.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, f := range families {
		if f.GetName() == "motorpool_consume_"+name {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// testLog writes log lines to the test while it runs.
type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// handle is a Handler made of a function.
type handle func(ctx context.Context, b *Batch) error

func (h handle) Handle(ctx context.Context, b *Batch) error { return h(ctx, b) }

// ledger is what a store with deduplication tokens would know: the ranges that were handled, and how often.
type ledger struct {
	mu      sync.Mutex
	ranges  map[string]Batch // by token, without records
	values  map[string][]string
	times   map[string]int
	changed chan struct{} // closed and replaced at every change
}

func newLedger() *ledger {
	return &ledger{ranges: map[string]Batch{}, values: map[string][]string{}, times: map[string]int{},
		changed: make(chan struct{})}
}

func (l *ledger) Handle(_ context.Context, b *Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	values := make([]string, len(b.Records))
	for i, r := range b.Records {
		values[i] = string(r.Value)
	}
	token := b.Token()
	l.ranges[token] = Batch{Topic: b.Topic, Partition: b.Partition, First: b.First, Last: b.Last}
	l.values[token] = values
	l.times[token]++
	close(l.changed)
	l.changed = make(chan struct{})
	return nil
}

func (l *ledger) handler(string, int) Handler { return l }

// records counts the records of all ranges.
func (l *ledger) records() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, values := range l.values {
		n += len(values)
	}
	return n
}

// within waits until the ranges have n records, and tells whether they do in time.
func (l *ledger) within(n int, limit time.Duration) bool {
	deadline := time.After(limit)
	for {
		l.mu.Lock()
		changed := l.changed
		l.mu.Unlock()
		if l.records() >= n {
			return true
		}
		select {
		case <-changed:
		case <-deadline:
			return false
		}
	}
}

// await waits until the ranges have n records.
func (l *ledger) await(t testing.TB, n int) {
	t.Helper()
	if !l.within(n, 30*time.Second) {
		t.Fatalf("%d of %d records were handled", l.records(), n)
	}
}

// eventually waits for a condition on the broker, which cannot be waited for otherwise.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// committed asks the broker what a group has committed for partition 0.
func committed(t testing.TB, client *kafka.Client, group, topic string) (offset int64, metadata string) {
	t.Helper()
	retryRefused(t, func() error {
		res, err := client.OffsetFetch(t.Context(),
			&kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: {0}}})
		if err != nil {
			return err
		}
		if res.Error != nil {
			return res.Error
		}
		p := res.Topics[topic][0]
		offset, metadata = p.CommittedOffset, p.Metadata
		return p.Error
	})
	return offset, metadata
}
