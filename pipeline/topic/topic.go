// Package topic knows where Kafka is, which topics Motorpool uses there and how a record gets onto one. It owns the
// connection settings (several brokers, TLS, SASL), makes the topics that are missing, looks whether they are as they
// should be, and publishes: Feed returns only when every in-sync replica has the records.
//
// The HTTP interface, replays, the demo and the pipeline's dead letters publish through it; reading is consume's.
package topic

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Config says where Kafka is and how its topics are to be. Each topic has its own name, so that a cluster can be shared.
type Config struct {
	Brokers []string // host:port; one that answers is enough
	TLS     TLS
	SASL    SASL

	Positions   string // fixes, native JSON or Arrow
	Telemetry   string // measurements without a place
	Traccar     string // positions as Traccar forwards them
	DeadLetters string // what could not become data

	// What topics are made with. A topic that is there already is left as it is.
	Partitions  int
	Replication int           // copies; 0 is the brokers' default
	Retention   time.Duration // of a record; longer than the pipeline may ever stand still
}

// MaxMessageBytes is the largest record that the topics take: the codec's limit and room for key and headers.
const MaxMessageBytes = 5<<20 + 64<<10

// TLS says how to encrypt. Without files the system's authorities are trusted and we show no certificate.
type TLS struct {
	Enabled           bool
	CAFile            string // PEM of the authorities to trust instead of the system's
	CertFile, KeyFile string // PEM of our own certificate and its key
	ServerName        string // expected in the broker's certificate; by default the host's name
}

// SASL says as whom to log in; no mechanism is no login.
type SASL struct {
	Mechanism    string // "plain", "scram-sha-256" or "scram-sha-512"
	User         string
	Password     string
	PasswordFile string // whose first line is the password
}

// DefaultConfig returns the settings for a broker on this machine.
func DefaultConfig() Config {
	return Config{
		Brokers:   []string{"127.0.0.1:9092"},
		Positions: "positions", Telemetry: "telemetry", Traccar: "traccar.positions", DeadLetters: "dead_letters",
		Partitions: 12, Retention: 7 * 24 * time.Hour,
	}
}

// Validate says what is wrong with the settings.
func (c Config) Validate() error {
	var errs []error
	if len(c.Brokers) == 0 {
		errs = append(errs, errors.New("no Kafka broker is given"))
	}
	for _, broker := range c.Brokers {
		if _, _, err := net.SplitHostPort(broker); err != nil {
			errs = append(errs, fmt.Errorf("kafka broker %q is not host:port", broker))
		}
	}
	seen := make(map[string]bool)
	for _, name := range c.Names() {
		if name == "" || seen[name] {
			errs = append(errs, fmt.Errorf("topic name %q is empty or used twice", name))
		}
		seen[name] = true
	}
	if c.Partitions <= 0 || c.Replication < 0 || c.Retention <= 0 {
		errs = append(errs, fmt.Errorf("topics of %d partitions, %d copies and %s retention cannot be made", c.Partitions, c.Replication, c.Retention))
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		errs = append(errs, errors.New("a Kafka client certificate needs its key, and a key its certificate"))
	}
	if _, err := c.SASL.mechanism(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Names returns the names of all topics.
func (c Config) Names() []string { return append(c.Ingest(), c.DeadLetters) }

// Ingest returns the names of the topics that the pipeline reads.
func (c Config) Ingest() []string { return []string{c.Positions, c.Telemetry, c.Traccar} }

const dialTimeout = 10 * time.Second

// Client returns a client of the cluster. It connects when it is used, and keeps connections until its transport is told
// to close the idle ones.
func (c Config) Client() (*kafka.Client, error) {
	transport, err := c.transport()
	if err != nil {
		return nil, err
	}
	return &kafka.Client{Addr: kafka.TCP(c.Brokers...), Transport: transport}, nil
}

// Dialer returns what a consumer group connects with.
func (c Config) Dialer() (*kafka.Dialer, error) {
	encryption, login, err := c.security()
	if err != nil {
		return nil, err
	}
	return &kafka.Dialer{ClientID: clientID, Timeout: dialTimeout, DualStack: true, TLS: encryption, SASLMechanism: login}, nil
}

const clientID = "motorpool"

func (c Config) transport() (*kafka.Transport, error) {
	encryption, login, err := c.security()
	if err != nil {
		return nil, err
	}
	return &kafka.Transport{
		ClientID: clientID, DialTimeout: dialTimeout, MetadataTTL: 10 * time.Second, TLS: encryption, SASL: login,
	}, nil
}

func (c Config) security() (*tls.Config, sasl.Mechanism, error) {
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	login, err := c.SASL.mechanism()
	if err != nil {
		return nil, nil, err
	}
	encryption, err := c.TLS.config()
	return encryption, login, err
}

func (t TLS) config() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		text, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("kafka authority: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("kafka authority: %s holds no PEM certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("kafka client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func (s SASL) mechanism() (sasl.Mechanism, error) {
	if s.Mechanism == "" {
		if s.User != "" || s.Password != "" || s.PasswordFile != "" {
			return nil, errors.New("kafka has a user or a password and no SASL mechanism: plain, scram-sha-256 or scram-sha-512")
		}
		return nil, nil
	}
	password := s.Password
	if s.PasswordFile != "" {
		text, err := os.ReadFile(s.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("kafka password: %w", err)
		}
		password, _, _ = strings.Cut(string(text), "\n")
		password = strings.TrimSuffix(password, "\r")
	}
	if s.User == "" || password == "" {
		return nil, fmt.Errorf("kafka's SASL %s needs a user and a password", s.Mechanism)
	}
	switch s.Mechanism {
	case "plain":
		return plain.Mechanism{Username: s.User, Password: password}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, s.User, password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, s.User, password)
	}
	return nil, fmt.Errorf("%q is no SASL mechanism we have: plain, scram-sha-256 or scram-sha-512", s.Mechanism)
}

// Ping returns nil if a broker answers.
func Ping(ctx context.Context, c Config) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	defer closeIdle(client)
	if _, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{c.Positions}}); err != nil {
		return fmt.Errorf("ask %s for its topics: %w", client.Addr, err)
	}
	return nil
}

func closeIdle(client *kafka.Client) { client.Transport.(*kafka.Transport).CloseIdleConnections() }
