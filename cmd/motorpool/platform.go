package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/pace"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/topic"
)

// platform is what both halves stand on: the connections, the log and the metrics.
type platform struct {
	settings *settings
	log      *slog.Logger
	metrics  *prometheus.Registry
	ids      *fleet.IDSource
	db       driver.Conn // for short questions
	pools    []driver.Conn
	kafka    topic.Config
	client   *kafka.Client
	feed     *topic.Feed
	room     *room
}

// connect opens the connections. small says that the topics are those of `up`.
func connect(ctx context.Context, s *settings, small bool, log *slog.Logger) (*platform, error) {
	p := &platform{settings: s, log: log, metrics: prometheus.NewRegistry(), ids: newIDs(), kafka: s.topics(small)}
	p.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	var err error
	if p.db, err = p.pool(ctx, s.DB.APIConnections); err != nil {
		return nil, err
	}
	if p.client, err = p.kafka.Client(); err == nil {
		p.feed, err = topic.NewFeed(p.kafka)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	folder := s.Data
	if !small { // the engines are elsewhere
		folder = ""
	}
	p.room = newRoom(folder, s.keepFree(), p.db, p.metrics, log)
	p.room.look(ctx)
	return p, nil
}

// pool opens connections to ClickHouse that nothing else uses, so that what keeps them all busy stops only itself. They
// are closed with the platform.
func (p *platform) pool(ctx context.Context, connections int) (driver.Conn, error) {
	config := p.settings.store()
	config.MaxConns = connections
	db, err := p.settings.openPool(ctx, config)
	if err == nil {
		p.pools = append(p.pools, db)
	}
	return db, err
}

// close ends the connections; by now nobody uses them.
func (p *platform) close() {
	if p.feed != nil {
		if err := p.feed.Close(); err != nil {
			p.log.Warn("close the connection to Kafka", "error", err)
		}
	}
	if p.client != nil {
		topic.Disconnect(p.client)
	}
	for _, pool := range p.pools {
		if err := pool.Close(); err != nil {
			p.log.Warn("close the connections to ClickHouse", "error", err)
		}
	}
}

// topics says where Kafka is and how topics are made there.
func (s *settings) topics(small bool) topic.Config {
	c := topic.DefaultConfig()
	c.Brokers = s.Kafka
	c.TLS = topic.TLS{
		Enabled: s.Broker.TLS, CAFile: s.Broker.CAFile, CertFile: s.Broker.CertFile, KeyFile: s.Broker.KeyFile,
		ServerName: s.Broker.ServerName,
	}
	c.SASL = topic.SASL{
		Mechanism: s.Broker.SASL, User: s.Broker.User, Password: s.Broker.Password, PasswordFile: s.Broker.PasswordFile,
	}
	if small {
		c.Partitions, c.Replication = 4, 1
	}
	if s.Broker.Partitions > 0 {
		c.Partitions = s.Broker.Partitions
	}
	if s.Broker.Replication > 0 {
		c.Replication = s.Broker.Replication
	}
	return c
}

// checks are what /readyz asks, by name.
type checks = map[string]rest.Check

// readStore checks the connection to ClickHouse.
func (p *platform) readStore() checks { return checks{"clickhouse": p.db.Ping} }

// readBroker checks the connection to Kafka.
func (p *platform) readBroker() checks {
	return checks{
		"kafka": func(ctx context.Context) error {
			cluster, err := p.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{p.kafka.Positions}})
			if err != nil {
				return err
			}
			for _, t := range cluster.Topics {
				if t.Error != nil {
					return fmt.Errorf("topic %s: %w", t.Name, t.Error)
				}
			}
			return nil
		},
	}
}

// publisher is the feed as the interface wants it.
type publisher struct{ *topic.Feed }

// Publish returns when all replicas have the reports, as let in by an account.
func (p publisher) Publish(ctx context.Context, account fleet.AccountID, name string, reports []fleet.Report) error {
	return p.Feed.Publish(ctx, name, reports, topic.HeaderOf(account))
}

// recordReader reads records for the interface with the pipeline's decoders. Each belongs to one call at a time.
type recordReader struct{ idle sync.Pool }

func newRecordReader() *recordReader {
	return &recordReader{sync.Pool{New: func() any { return codec.NewDecoder() }}}
}

// ReadRecord returns the reports of a record, which share no memory with its decoder.
func (r *recordReader) ReadRecord(format string, record []byte) ([]fleet.Report, error) {
	decoder := r.idle.Get().(*codec.Decoder)
	defer r.idle.Put(decoder)
	defer decoder.Reset()
	reports, err := decoder.Decode(codec.Format(format), record, nil)
	for i := range reports {
		reports[i].Signals = slices.Clone(reports[i].Signals)
	}
	return reports, err
}

// newOps opens the listener of /healthz, /readyz and /metrics. Where several processes on one machine have the same
// settings, all but the first take a free port and say so. Without what is needed the process is not ready; a disk that
// fills up takes nothing from what is read.
func (p *platform) newOps(needed, wanted checks) (*listener, error) {
	all := checks{"disk": p.room.Check}
	maps.Copy(all, wanted)
	handler := pace.Default().Handler(rest.OpsHandler(needed, all, p.metrics))
	l, err := listen(p.settings.Ops, handler, opsManners(), p.log)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	host, _, err := net.SplitHostPort(p.settings.Ops)
	if err != nil {
		return nil, fmt.Errorf("--ops: %w", err)
	}
	if l, err = listen(net.JoinHostPort(host, "0"), handler, opsManners(), p.log); err == nil {
		p.log.Warn("another process has the address of /metrics; this one's is elsewhere", "wanted", p.settings.Ops,
			"ops", l.addr())
	}
	return l, err
}

// prefixes reads addresses and prefixes.
func prefixes(texts []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			addr, addrErr := netip.ParseAddr(text)
			if addrErr != nil {
				return nil, fmt.Errorf("%q is neither an address nor a prefix such as 10.0.0.0/8", text)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		all = append(all, prefix)
	}
	return all, nil
}
