package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// BrokerConfig says where the embedded broker runs and what it keeps.
type BrokerConfig struct {
	// Dir holds the log and the group offsets. It is created, and belongs to
	// one broker at a time.
	Dir string
	// Addr is host:port on the loopback interface, since the broker has no
	// passwords; port 0 picks a free one. By default 127.0.0.1:0.
	Addr string
	// Sync holds every answer back until all that was written before it is on
	// the disk, the names of new files included; many requests share one
	// flush. Without it, as in Apache Kafka by default, an acknowledged record
	// is in the operating system's cache: it survives kill -9 of this process,
	// not a power cut or a crash of the system.
	Sync bool
	// KeepFree is how many bytes of its disk the broker leaves free: below,
	// producers are refused for the moment (KAFKA_STORAGE_ERROR), and below a
	// quarter of it commits too.
	KeepFree uint64
	// Groups are the consumer groups that must have read a record before it
	// may be deleted. A partition of a topic one of them has ever committed
	// to is kept from that group's offset on, from the start if the group has
	// not committed to that partition.
	Groups []string
	// Retention is how long a record is kept at least if its topic has no
	// retention.ms of its own; 24 h by default, negative for ever.
	Retention time.Duration
	// MaxBytes bounds the whole log: above it, what Groups have read goes
	// before its time, oldest first. 2 GiB by default. After an unclean stop
	// the broker reads the whole log into memory once, so this bounds the
	// memory of a start, too.
	MaxBytes int64
	// Logger takes the broker's warnings; nil drops them.
	Logger *slog.Logger
}

const (
	segmentBytes   = 32 << 20 // the unit of deletion
	retentionEvery = time.Minute
)

func (c *BrokerConfig) setDefaults() error {
	if c.Dir == "" {
		return errors.New("no directory is given")
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if err := requireLoopback(c.Addr); err != nil {
		return err
	}
	if c.Retention == 0 {
		c.Retention = 24 * time.Hour
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 2 << 30
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Broker speaks the Kafka protocol to any client: topics, groups, commits
// with metadata, compression, transactions. It is one node with one copy.
//
// It differs from Apache Kafka in this: topics are only ever made by a
// request to create them; record timestamps are the producer's, whatever a
// topic's message.timestamp.type says; cleanup.policy=compact keeps every
// record; and deletion is as [BrokerConfig] describes, by whole segments and
// never the newest one, by the time the segment was last written.
//
// Records, topics, committed offsets and their metadata survive kill -9. A
// group's members do not: they join again.
type Broker struct {
	cluster *kfake.Cluster
	config  BrokerConfig
	addr    string
	lock    *os.File
	synced  *synced // nil without Sync
	members members
	cancel  context.CancelFunc // ends the loops
	loops   sync.WaitGroup
}

// StartBroker opens the log in Dir and serves it. It returns [ErrInUse] if
// another broker has the directory. After an unclean stop it first reads the
// whole log into memory, at about 1.5 GB a second.
func StartBroker(config BrokerConfig) (*Broker, error) {
	c := config
	if err := c.setDefaults(); err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock, err := lockDir(ctx, c.Dir)
	if err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	listen := func(network, _ string) (net.Listener, error) { return net.Listen(network, c.Addr) }
	var log *synced
	if c.Sync {
		log = newSynced(filepath.Join(c.Dir, "log"))
		if err := log.begin(); err != nil {
			lock.Close()
			return nil, fmt.Errorf("start broker: %w", err)
		}
		listen = func(network, _ string) (net.Listener, error) {
			l, err := net.Listen(network, c.Addr)
			return heldBack{l, log}, err
		}
	}
	cluster, err := kfake.NewCluster(append(c.options(), kfake.ListenFn(listen))...)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("start broker: %w", err)
	}
	// The broker would stamp such a batch anew without a new checksum, and
	// after a crash cut the log off at it. No ordinary producer sends one.
	cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Count: -1,
		Err: kerr.InvalidTimestamp, When: stampedByClient,
	})
	for _, fault := range c.whenFull() {
		cluster.Fault(fault)
	}
	b := &Broker{cluster: cluster, config: c, addr: cluster.ListenAddrs()[0], lock: lock, synced: log}
	b.members.dealt, b.members.signal = make(map[string]int32), make(chan struct{}, 1)
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.SyncGroup}, Count: -1, When: b.members.observe})
	ctx, b.cancel = context.WithCancel(context.Background())
	b.loops.Go(func() { b.retain(ctx) })
	b.loops.Go(func() { b.timeMembers(ctx) })
	return b, nil
}

func (c *BrokerConfig) options() []kfake.Opt {
	return []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ClusterID("motorpool"),
		kfake.DataDir(filepath.Join(c.Dir, "log")),
		kfake.WithLogger(brokerLog{c.Logger}),
		kfake.BrokerConfigs(map[string]string{
			"log.segment.bytes": strconv.Itoa(segmentBytes),
			// Its own retention may empty a partition; an emptied one starts
			// again at offset 0 after a crash. We delete instead (retain).
			"log.cleaner.backoff.ms": strconv.FormatInt((100 * 365 * 24 * time.Hour).Milliseconds(), 10),
			// A machine that was off for a week has to find its offsets.
			"offsets.retention.minutes": strconv.Itoa(10 * 365 * 24 * 60),
		}),
	}
}

// Addr is the host:port clients use.
func (b *Broker) Addr() string { return b.addr }

// Broken is closed when the disk refused to keep what was written. Nothing is
// answered from then on: a new start reads what the disk has.
func (b *Broker) Broken() <-chan struct{} {
	if b.synced == nil {
		return nil
	}
	return b.synced.broken
}

// Stop closes the broker's connections and writes its state, so that the
// next start need not read the log. It must be called once.
func (b *Broker) Stop() {
	b.cancel()
	b.loops.Wait()
	b.cluster.Close()
	if b.synced != nil {
		if err := b.synced.Flush(); err != nil {
			b.config.Logger.Warn("broker: " + err.Error())
		}
	}
	b.lock.Close()
}

// stampedByClient tells whether a produce request has a batch that claims to
// carry the broker's time already (bit 3 of the attributes, KIP-32).
func stampedByClient(req kmsg.Request) bool {
	produce, ok := req.(*kmsg.ProduceRequest)
	if !ok {
		return false
	}
	for _, topic := range produce.Topics {
		for _, partition := range topic.Partitions {
			const attributesLow = 22 // the attributes are bytes 21 and 22 of a batch
			if len(partition.Records) > attributesLow && partition.Records[attributesLow]&0x08 != 0 {
				return true
			}
		}
	}
	return false
}

// brokerLog passes on what the broker warns about.
type brokerLog struct{ log *slog.Logger }

func (l brokerLog) Logf(level kfake.LogLevel, format string, args ...any) {
	if level <= kfake.LogLevelWarn {
		l.log.Warn("broker: " + fmt.Sprintf(format, args...))
	}
}
