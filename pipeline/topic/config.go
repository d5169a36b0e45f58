// Package topic knows where Kafka is: it connects (TLS, SASL), makes and examines the topics, and publishes to them.
//
// Its callers are the modes of cmd/motorpool. Consuming is pipeline/consume, which takes the connections made here.
package topic

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/motorpool/fleet/pipeline/codec"
)

// Config says where Kafka is and what the topics are.
type Config struct {
	Brokers []string // host:port; one that answers is enough to find the others
	TLS     TLS
	SASL    SASL

	// Names of the topics. Traccar's may be empty: then there is none.
	Positions, Telemetry, Traccar, DeadLetters string
	// Changes says of vehicles that they have new fixes, keyed by vehicle; Events, of one partition, what was derived.
	Changes, Events string
	// Deliveries says which endpoints of webhooks are to get which events, keyed by endpoint.
	Deliveries string

	// What Ensure gives to topics that it makes. Those that exist are left as they are.
	Partitions  int
	Replication int           // 0: the brokers' default
	Retention   time.Duration // below 0: for ever

	// MaxMessageBytes is the size of a record above which it is not sent, and max.message.bytes of new topics.
	MaxMessageBytes int
	Compression     string // of what is published: none, lz4, snappy, zstd or gzip
}

// TLS says how connections are encrypted.
type TLS struct {
	Enabled           bool
	CAFile            string // PEM; empty: the system's authorities
	CertFile, KeyFile string // PEM; a certificate of our own, if the brokers ask for one
	ServerName        string // to be expected in the brokers' certificates instead of their host names
}

// SASL says who we are. Without a mechanism we are nobody.
type SASL struct {
	Mechanism    string // plain, scram-sha-256 or scram-sha-512
	User         string
	Password     string
	PasswordFile string // holds the password if Password is empty; space around it is ignored
}

// DefaultConfig returns the settings for a broker on this machine, without encryption. MaxMessageBytes is the largest
// value that the codec reads, and room for key and headers. Compression is lz4 because it makes the JSON of fixes five
// times smaller (snappy 4.5, zstd 9.7 times) and costs 8 % of the processor time of publishing (zstd 35 %).
func DefaultConfig() Config {
	return Config{
		Brokers:         []string{"127.0.0.1:9092"},
		Positions:       "positions",
		Telemetry:       "telemetry",
		Traccar:         "traccar.positions",
		DeadLetters:     "dead_letters",
		Changes:         "changes",
		Events:          "events",
		Deliveries:      "webhook.deliveries",
		Partitions:      12,
		Retention:       7 * 24 * time.Hour,
		MaxMessageBytes: codec.DefaultMaxBytes + 64<<10,
		Compression:     "lz4",
	}
}

var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// Validate returns what is wrong with the configuration, or nil. It reads no files.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(len(c.Brokers) > 0, "no brokers")
	for _, broker := range c.Brokers {
		host, port, err := net.SplitHostPort(broker)
		check(err == nil && host != "" && port != "" &&
			!strings.Contains(broker, ","), "broker %q: must be host:port", broker)
	}
	seen := map[string]bool{}
	for _, t := range c.topics() {
		check(topicName.MatchString(t.name) && t.name != "." &&
			t.name != "..", "topic %q: not a name that Kafka takes", t.name)
		check(!seen[t.name], "topic %q: named twice", t.name)
		seen[t.name] = true
	}
	check(c.Partitions > 0, "partitions %d: must be positive", c.Partitions)
	check(c.Replication >= 0, "replication %d: must not be negative", c.Replication)
	check(c.Retention != 0, "retention is zero: must be a time, or negative for ever")
	check(c.MaxMessageBytes >= 1<<10, "max message bytes %d: must be at least 1024", c.MaxMessageBytes)
	if _, err := c.compression(); err != nil {
		errs = append(errs, err)
	}
	t := c.TLS
	check(t.Enabled || t == (TLS{}), "tls: it is not enabled, but has settings")
	check((t.CertFile == "") == (t.KeyFile == ""), "tls: a certificate and its key come together")
	switch strings.ToLower(c.SASL.Mechanism) {
	case "":
		check(c.SASL == SASL{}, "sasl: a user or password without a mechanism")
	case "plain", "scram-sha-256", "scram-sha-512":
		check(c.SASL.User != "", "sasl: no user")
		check((c.SASL.Password == "") != (c.SASL.PasswordFile == ""), "sasl: give a password or a file that holds it")
	default:
		check(false, "sasl mechanism %q: must be plain, scram-sha-256 or scram-sha-512", c.SASL.Mechanism)
	}
	return errors.Join(errs...)
}

// wanted is a topic as it should be.
type wanted struct {
	name   string
	ingest bool // what devices send, so the time that counts is the brokers'
	single bool // has one partition, because its order is the order of everything in it
}

func (c Config) topics() []wanted {
	var topics []wanted
	for _, name := range c.Ingest() {
		topics = append(topics, wanted{name: name, ingest: true})
	}
	return append(topics, wanted{name: c.DeadLetters}, wanted{name: c.Changes}, wanted{name: c.Deliveries},
		wanted{name: c.Events, single: true})
}

// partitions is how many partitions a topic should have.
func (c Config) partitions(t wanted) int {
	if t.single {
		return 1
	}
	return c.Partitions
}

// Ingest returns the names of the topics that the pipeline reads.
func (c Config) Ingest() []string {
	names := []string{c.Positions, c.Telemetry}
	if c.Traccar != "" {
		names = append(names, c.Traccar)
	}
	return names
}

// Names returns the names of all topics.
func (c Config) Names() []string {
	return append(c.Ingest(), c.DeadLetters, c.Changes, c.Events, c.Deliveries)
}

func (c Config) compression() (kafka.Compression, error) {
	if c.Compression == "none" || c.Compression == "" {
		return 0, nil
	}
	var codec kafka.Compression
	if err := codec.UnmarshalText([]byte(c.Compression)); err != nil || codec.Codec() == nil {
		return 0, fmt.Errorf("compression %q: must be none, lz4, snappy, zstd or gzip", c.Compression)
	}
	return codec, nil
}

// tls returns the TLS settings, or nil if there is no encryption.
func (c Config) tls() (*tls.Config, error) {
	if !c.TLS.Enabled {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.TLS.ServerName}
	if c.TLS.CAFile != "" {
		pem, err := os.ReadFile(c.TLS.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls authorities: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls authorities: no certificate in %s", c.TLS.CAFile)
		}
	}
	if c.TLS.CertFile != "" {
		certificate, err := tls.LoadX509KeyPair(c.TLS.CertFile, c.TLS.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}

// mechanism returns how to authenticate, or nil for not at all.
func (c Config) mechanism() (sasl.Mechanism, error) {
	if c.SASL.Mechanism == "" {
		return nil, nil
	}
	password := c.SASL.Password
	if password == "" {
		text, err := os.ReadFile(c.SASL.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("sasl password: %w", err)
		}
		if password = strings.TrimSpace(string(text)); password == "" {
			return nil, fmt.Errorf("sasl password: %s is empty", c.SASL.PasswordFile)
		}
	}
	switch strings.ToLower(c.SASL.Mechanism) {
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, c.SASL.User, password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, c.SASL.User, password)
	}
	return plain.Mechanism{Username: c.SASL.User, Password: password}, nil
}

const (
	clientID    = "motorpool"
	dialTimeout = 10 * time.Second
	// metadataTTL is how long a client may believe in a former leader of a partition.
	metadataTTL = 2 * time.Second
)

// Client returns a client with connections of its own; it connects when it is used. Disconnect ends them.
func (c Config) Client() (*kafka.Client, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("kafka configuration: %w", err)
	}
	encryption, err := c.tls()
	if err != nil {
		return nil, err
	}
	mechanism, err := c.mechanism()
	if err != nil {
		return nil, err
	}
	return &kafka.Client{
		Addr: kafka.TCP(c.Brokers...),
		Transport: &kafka.Transport{
			ClientID: clientID, TLS: encryption, SASL: mechanism, DialTimeout: dialTimeout, MetadataTTL: metadataTTL,
			Dial: (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		},
	}, nil
}

// Disconnect closes the connections of a client that Client made, as far as they are not in use.
func Disconnect(client *kafka.Client) {
	if transport, ok := client.Transport.(*kafka.Transport); ok {
		transport.CloseIdleConnections()
	}
}

// Dialer returns a dialer to the same brokers, for consumer groups.
func (c Config) Dialer() (*kafka.Dialer, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("kafka configuration: %w", err)
	}
	encryption, err := c.tls()
	if err != nil {
		return nil, err
	}
	mechanism, err := c.mechanism()
	if err != nil {
		return nil, err
	}
	return &kafka.Dialer{
		ClientID: clientID, Timeout: dialTimeout, KeepAlive: 30 * time.Second, TLS: encryption, SASLMechanism: mechanism,
	}, nil
}
