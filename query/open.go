package query

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Config says where ClickHouse is and who we are there. All hosts of Addrs hold the same data, or Open refuses them: a
// connection goes to the first that answers.
type Config struct {
	Addrs        []string `json:"addrs"`         // host:port of the native protocol
	Database     string   `json:"database"`      // must exist; EnsureDatabase makes it
	User         string   `json:"user"`          //
	Password     string   `json:"password"`      // or
	PasswordFile string   `json:"password_file"` // a file whose first line it is, read when opening
	TLS          TLS      `json:"tls"`

	MaxConns     int           `json:"max_conns"`     // at once; a query above it waits
	DialTimeout  time.Duration `json:"dial_timeout"`  // of one host
	QueryTimeout time.Duration `json:"query_timeout"` // silence after which a running query is given up
}

// TLS says how connections are encrypted; the zero value means that they are not.
type TLS struct {
	Enabled    bool   `json:"enabled"`
	CAFile     string `json:"ca_file"`     // PEM; empty trusts what the system trusts
	CertFile   string `json:"cert_file"`   // PEM; with KeyFile, our own certificate
	KeyFile    string `json:"key_file"`    //
	ServerName string `json:"server_name"` // expected in the server's certificate, if not the host's name
}

// DefaultConfig is ClickHouse on this machine without a password.
func DefaultConfig() Config {
	return Config{
		Addrs: []string{"127.0.0.1:9000"}, Database: "motorpool", User: "motorpool",
		MaxConns: 16, DialTimeout: 5 * time.Second, QueryTimeout: time.Minute,
	}
}

// databaseName is what we accept as one, because a database name cannot be a parameter of CREATE DATABASE.
var databaseName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// Validate returns what is wrong with the configuration, all of it at once.
func (c Config) Validate() error {
	var problems []error
	if len(c.Addrs) == 0 {
		problems = append(problems, errors.New("clickhouse addrs is empty: name at least one host:port"))
	}
	for _, addr := range c.Addrs {
		if !strings.Contains(addr, ":") {
			problems = append(problems, fmt.Errorf("clickhouse address %q has no port", addr))
		}
	}
	if !databaseName.MatchString(c.Database) {
		problems = append(problems, fmt.Errorf("clickhouse database %q is not letters, digits and underscores", c.Database))
	}
	if c.User == "" {
		problems = append(problems, errors.New("clickhouse user is empty"))
	}
	if c.Password != "" && c.PasswordFile != "" {
		problems = append(problems, errors.New("clickhouse password and password_file are both set"))
	}
	if c.MaxConns < 1 {
		problems = append(problems, errors.New("clickhouse max_conns must be at least 1"))
	}
	if c.DialTimeout <= 0 || c.QueryTimeout <= 0 {
		problems = append(problems, errors.New("clickhouse dial_timeout and query_timeout must be positive"))
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		problems = append(problems, errors.New("clickhouse tls cert_file and key_file go together"))
	}
	return errors.Join(problems...)
}

// Open makes a pool of connections and asks the server whether it is there, so that a wrong address or password shows
// at start. Several addresses must be one store. The pool reconnects on its own afterwards and is safe for concurrent
// use; the caller closes it.
func Open(ctx context.Context, c Config) (driver.Conn, error) {
	db, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.oneStore(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// open is Open without the question whether several addresses are one store.
func (c Config) open(ctx context.Context) (driver.Conn, error) {
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	return c.dial(ctx, options)
}

// OpenGuest is Open for a user who may not change a setting.
func OpenGuest(ctx context.Context, c Config) (driver.Conn, error) {
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	options.Settings = nil
	return c.dial(ctx, options)
}

func (c Config) dial(ctx context.Context, options *clickhouse.Options) (driver.Conn, error) {
	db, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("open clickhouse: %w", err)
	}
	if err := db.Ping(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("reach clickhouse at %s as %s: %w", strings.Join(c.Addrs, ", "), c.User, err)
	}
	return steady{db}, nil
}

// EnsureDatabase makes the configured database if it does not stand yet.
func EnsureDatabase(ctx context.Context, c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	name := c.Database
	c.Database = "system" // the one that every server has and every user sees
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Exec(ctx, "CREATE DATABASE IF NOT EXISTS `"+name+"`"); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

func (c Config) options() (*clickhouse.Options, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	password := c.Password
	if c.PasswordFile != "" {
		text, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("read clickhouse password: %w", err)
		}
		password, _, _ = strings.Cut(string(text), "\n")
		password = strings.TrimSuffix(password, "\r")
	}
	encryption, err := c.TLS.config()
	if err != nil {
		return nil, err
	}
	return &clickhouse.Options{
		Addr:             c.Addrs,
		Auth:             clickhouse.Auth{Database: c.Database, Username: c.User, Password: password},
		TLS:              encryption,
		Compression:      &clickhouse.Compression{Method: clickhouse.CompressionLZ4},
		ConnOpenStrategy: clickhouse.ConnOpenInOrder,
		MaxOpenConns:     c.MaxConns,
		MaxIdleConns:     c.MaxConns,
		ConnMaxLifetime:  time.Hour,
		DialTimeout:      c.DialTimeout,
		ReadTimeout:      c.QueryTimeout,
		ClientInfo: clickhouse.ClientInfo{Products: []struct{ Name, Version string }{
			{Name: "motorpool"},
		}},
		Settings: clickhouse.Settings{
			// An insert is acknowledged when its rows are stored, not when they are queued.
			"async_insert": 0,
			// A repeated token is a no-op in the table and in every table that a view fills from it.
			"insert_deduplicate": 1,
			"deduplicate_blocks_in_dependent_materialized_views": 1,
			// A batch of recordings may span decades, and a table that is partitioned by month refuses more than 100
			// of them in one insert by default.
			"max_partitions_per_insert_block": 0,
			// Most reads are of a few granules that are in memory: a thread that reads them itself has them before
			// another could be told to.
			"local_filesystem_read_method": "pread",
			// To compile an expression that has come three times takes the server 27 ms, and saves none of our queries
			// anything that can be measured; a compiled order does.
			"compile_expressions": 0, "compile_aggregate_expressions": 0,
			// To plan a read the server would open a file of each column of each merged part, for what it says of its
			// values. The older name of use_statistics, which more servers know.
			"allow_statistics_optimize": 0,
		},
	}, nil
}

func (t TLS) config() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read clickhouse ca_file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("clickhouse ca_file %s holds no certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read clickhouse certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config, nil
}
