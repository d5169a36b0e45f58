package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/motorpool/fleet/query"
)

// settings are shared by all commands. A flag wins over the environment, that over the file, that over the default.
type settings struct {
	Config kong.ConfigFlag `help:"JSON file of settings; its members are named like the flags, with underscores." placeholder:"FILE"`

	Data           string   `help:"Folder of what 'up' keeps: the engines' data and their passwords." default:"./data" type:"path"`
	HTTP           string   `name:"http" help:"Address the interface listens on." default:"127.0.0.1:8080"`
	Ops            string   `help:"Address of /healthz, /readyz and /metrics." default:"127.0.0.1:8081"`
	Kafka          []string `help:"Kafka brokers; under 'up', where the embedded one listens." default:"127.0.0.1:9092"`
	ClickHouse     []string `name:"clickhouse" help:"ClickHouse servers (native protocol), several only if they replicate or share the tables; under 'up', where the embedded one listens." default:"127.0.0.1:9000"`
	ClickHouseHTTP string   `name:"clickhouse-http" help:"Where the embedded ClickHouse speaks HTTP." default:"127.0.0.1:8123"`

	Durability string `help:"When something is acknowledged: sync, when the disk of 'up' has it; os, when the operating system has it: faster, and a power cut loses the last half minute." enum:"sync,os" default:"sync" group:"Disk"`
	KeepFree   int    `help:"Megabytes that stay free on the disk of 'up', or on those of our tables in a ClickHouse elsewhere: below, writes are answered with 507, and with 'up' ingest waits; four times as much is announced." default:"512" group:"Disk"`

	DB struct {
		Database     string `help:"Database." default:"motorpool"`
		User         string `help:"User." default:"motorpool"`
		Password     string `help:"Password; better in a file or the environment, as others see command lines."`
		PasswordFile string `help:"File whose first line is the password." type:"path"`
		TLS          bool   `help:"Encrypt the connection."`
		CAFile       string `help:"PEM of the authority to trust instead of the system's." type:"path"`
		CertFile     string `help:"PEM of our own certificate." type:"path"`
		KeyFile      string `help:"PEM of its key." type:"path"`
		ServerName   string `help:"Name expected in the server's certificate."`

		APIConnections      int `name:"api-connections" help:"Connections for the interface's short answers, and for other commands." default:"16"`
		DownloadConnections int `help:"Connections for downloads and long searches, and so how many of all accounts are under way at once; the next ones wait." default:"8"`
		IngestConnections   int `help:"Connections for the pipeline." default:"16"`
	} `embed:"" prefix:"clickhouse-" group:"ClickHouse"`

	Broker struct {
		User           string        `help:"SASL user."`
		Password       string        `help:"SASL password; better in a file or the environment."`
		PasswordFile   string        `help:"File whose first line is the SASL password." type:"path"`
		SASL           string        `name:"sasl" help:"SASL mechanism: plain, scram-sha-256 or scram-sha-512." enum:",plain,scram-sha-256,scram-sha-512" default:""`
		TLS            bool          `help:"Encrypt the connection."`
		CAFile         string        `help:"PEM of the authority to trust instead of the system's." type:"path"`
		CertFile       string        `help:"PEM of our own certificate." type:"path"`
		KeyFile        string        `help:"PEM of its key." type:"path"`
		ServerName     string        `help:"Name expected in the broker's certificate."`
		Partitions     int           `help:"Partitions of topics that are made; 0 is 4 under 'up' and 12 elsewhere."`
		Replication    int           `help:"Copies of topics that are made; 0 is 1 under 'up' and the broker's default elsewhere. With two or more a record is acknowledged when two brokers have it (min.insync.replicas)."`
		MaxInflated    int           `help:"MiB to which a record batch may inflate; a larger one becomes a dead letter. The same for all processes." default:"64"`
		SessionTimeout time.Duration `help:"Without a sign of life for so long a pipeline counts as dead, and others take its partitions; at least 6s on Apache Kafka as it comes." default:"30s"`
	} `embed:"" prefix:"kafka-" group:"Kafka"`

	SealKey     string `help:"Keys that secrets which have to be read back are sealed with, the one that is used from now on first, with commas between; better in a file or the environment, as others see command lines." group:"Secrets"`
	SealKeyFile string `help:"File with these keys, one a line; seal-key in --data unless given, which 'up' makes." type:"path" group:"Secrets"`

	LogLevel     string `help:"Least level that is logged: debug, info, warn or error. On a terminal requests that went well are for debug alone." enum:"debug,info,warn,error" default:"info" group:"Watching"`
	LogFormat    string `help:"text, json, or auto: text on a terminal." enum:"auto,text,json" default:"auto" group:"Watching"`
	OTLPEndpoint string `name:"otlp-endpoint" help:"URL of an OpenTelemetry collector (OTLP over HTTP) for traces; none by default." placeholder:"URL" group:"Watching"`
}

// Names of what `up` keeps in the data folder beside the engines' own folders.
const (
	appPasswordFile = "clickhouse-password"
	biPasswordFile  = "clickhouse-bi-password"
	demoKeyFile     = "demo.key"
	trackingKeyFile = "demo-tracking.key"
)

// synced says whether the embedded engines acknowledge what is on the disk only.
func (s *settings) synced() bool { return s.Durability == "sync" }

// keepFree is what the embedded engines leave free, in bytes.
func (s *settings) keepFree() uint64 { return uint64(max(s.KeepFree, 0)) << 20 }

// store says where ClickHouse is. A password that nothing names is the embedded engine's, if the address is on this
// machine and the data folder has one.
func (s *settings) store() query.Config {
	c := query.DefaultConfig()
	c.Addrs, c.Database, c.User = s.ClickHouse, s.DB.Database, s.DB.User
	c.Password, c.PasswordFile, c.MaxConns = s.DB.Password, s.DB.PasswordFile, s.DB.APIConnections
	c.TLS = query.TLS{
		Enabled: s.DB.TLS, CAFile: s.DB.CAFile, CertFile: s.DB.CertFile, KeyFile: s.DB.KeyFile, ServerName: s.DB.ServerName,
	}
	own := filepath.Join(s.Data, appPasswordFile)
	if c.Password == "" && c.PasswordFile == "" && allLoopback(c.Addrs) {
		if _, err := os.Stat(own); err == nil {
			c.PasswordFile = own
		}
	}
	return c
}

// openStore connects to ClickHouse as a command does that asks for little.
func (s *settings) openStore(ctx context.Context) (driver.Conn, error) {
	return s.openPool(ctx, s.store())
}

// openPool connects to ClickHouse; its error says what may be the matter.
func (s *settings) openPool(ctx context.Context, config query.Config) (driver.Conn, error) {
	db, err := query.Open(ctx, config)
	if err == nil {
		if err := refuseUnfinished(ctx, db, s.DB.Database); err != nil {
			_ = db.Close()
			return nil, err
		}
	}
	var refused *clickhouse.Exception
	switch {
	case err == nil || ctx.Err() != nil || errors.Is(err, query.ErrSeveralStores):
		return db, err
	case errors.As(err, &refused) && refused.Code == authenticationFailed:
		return nil, fmt.Errorf("%w\nA running 'motorpool up' keeps the password in its data folder; this command looks in %s: give --data, or --clickhouse-password-file", err, s.Data)
	case !errors.As(err, &refused):
		return nil, fmt.Errorf("%w\nIs 'motorpool up' running, with the same --clickhouse? 'motorpool doctor' says more", err)
	}
	return nil, err
}

// authenticationFailed is ClickHouse's code of a refused login.
const authenticationFailed = 516

func allLoopback(addrs []string) bool {
	for _, addr := range addrs {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return false
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// logger writes to w in the form that suits it.
func (s *settings) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // an enum: one of the four
	options := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "text" || s.LogFormat == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// loadFile reads the file of settings: one JSON object, whose members are named like flags.
func loadFile(r io.Reader) (kong.Resolver, error) {
	decoder := json.NewDecoder(r)
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return nil, fmt.Errorf("the file of settings is not a JSON object: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("the file of settings goes on after its JSON object")
	}
	return fileResolver(members), nil
}

type fileResolver map[string]any

// Validate refuses members that are no setting.
func (f fileResolver) Validate(app *kong.Application) error {
	known := make(map[string]bool)
	var collect func(*kong.Node)
	collect = func(node *kong.Node) {
		for _, flag := range node.Flags {
			known[member(flag)] = true
		}
		for _, child := range node.Children {
			collect(child)
		}
	}
	collect(app.Node)
	delete(known, "config")
	delete(known, "help")
	for name, value := range f {
		if !known[name] {
			return fmt.Errorf("the file of settings has a member %q, which is no setting", name)
		}
		if _, object := value.(map[string]any); object || value == nil {
			return fmt.Errorf("the file of settings: %q must be a text, number, truth value or list", name)
		}
	}
	return nil
}

// Resolve yields to the environment, which kong has read before it asks.
func (f fileResolver) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, ok := os.LookupEnv(env); ok {
			return nil, nil
		}
	}
	value, ok := f[member(flag)]
	if !ok {
		return nil, nil
	}
	return value, nil
}

func member(flag *kong.Flag) string { return strings.ReplaceAll(flag.Name, "-", "_") }
