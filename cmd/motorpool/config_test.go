package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

// parse reads a command line as run does, without running it.
func parse(t *testing.T, args ...string) (commands, error) {
	t.Helper()
	var cli commands
	parser, err := newParser(&cli, output{out: new(bytes.Buffer), err: new(bytes.Buffer)}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(args)
	return cli, err
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "motorpool.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSettingsPrecedence: a flag beats the environment, that beats the file, that beats the default.
func TestSettingsPrecedence(t *testing.T) {
	file := writeFile(t, `{"http": "127.0.0.1:1", "ops": "127.0.0.1:2", "kafka": ["a:9092", "b:9092"], "kafka_tls": true,
		"kafka_partitions": 7, "clickhouse_user": "filed", "data": "/from/file", "demo": true}`)
	t.Setenv("MOTORPOOL_OPS", "127.0.0.1:22")
	t.Setenv("MOTORPOOL_DATA", "/from/env")
	t.Setenv("MOTORPOOL_CLICKHOUSE", "c:9000,d:9000")
	cli, err := parse(t, "up", "--config", file, "--data", "/from/flag")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ what, got, want string }{
		{"flag over environment and file", cli.Data, "/from/flag"},
		{"environment over file", cli.Ops, "127.0.0.1:22"},
		{"file over default", cli.HTTP, "127.0.0.1:1"},
		{"default", cli.ClickHouseHTTP, "127.0.0.1:8123"},
		{"list in the file", strings.Join(cli.Kafka, " "), "a:9092 b:9092"},
		{"list in the environment", strings.Join(cli.ClickHouse, " "), "c:9000 d:9000"},
		{"prefixed", cli.DB.User, "filed"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, tt.got, tt.want)
		}
	}
	if !cli.Broker.TLS || cli.Broker.Partitions != 7 || !cli.Up.Demo {
		t.Errorf("tls %v, partitions %d, demo %v", cli.Broker.TLS, cli.Broker.Partitions, cli.Up.Demo)
	}
}

func TestTheFileMayBeNamedInTheEnvironment(t *testing.T) {
	t.Setenv("MOTORPOOL_CONFIG", writeFile(t, `{"http": "127.0.0.1:1"}`))
	cli, err := parse(t, "version")
	if err != nil || cli.HTTP != "127.0.0.1:1" {
		t.Errorf("http = %q, %v", cli.HTTP, err)
	}
}

func TestTheRateLimitIsASettingOfServeAndUp(t *testing.T) {
	for _, command := range []string{"serve", "up"} {
		limit := func(args ...string) int {
			t.Helper()
			cli, err := parse(t, append([]string{command}, args...)...)
			if err != nil {
				t.Fatal(err)
			}
			return map[string]int{"serve": cli.Serve.RateLimit, "up": cli.Up.RateLimit}[command]
		}
		if n := limit(); n != auth.DefaultRate {
			t.Errorf("%s: %d unless given, and the default is %d", command, n, auth.DefaultRate)
		}
		t.Setenv("MOTORPOOL_RATE_LIMIT", "123")
		if limit() != 123 || limit("--rate-limit", "0") != 0 {
			t.Errorf("%s: %d of the environment, %d of a flag", command, limit(), limit("--rate-limit", "0"))
		}
		if err := os.Unsetenv("MOTORPOOL_RATE_LIMIT"); err != nil {
			t.Fatal(err)
		}
		if n := limit("--config", writeFile(t, `{"rate_limit": 77}`)); n != 77 {
			t.Errorf("%s: %d of the file", command, n)
		}
	}
}

func TestBadSettingsAreErrors(t *testing.T) {
	for name, text := range map[string]string{
		"unknown member":       `{"htttp": "127.0.0.1:1"}`,
		"a flag's spelling":    `{"clickhouse-user": "x"}`,
		"an object":            `{"kafka": {"brokers": []}}`,
		"null":                 `{"http": null}`,
		"wrong type":           `{"kafka_partitions": "many"}`,
		"wrong choice":         `{"log_level": "loud"}`,
		"no JSON":              `http: 127.0.0.1:1`,
		"an array":             `[]`,
		"two objects":          `{} {}`,
		"the file in the file": `{"config": "other.json"}`,
	} {
		if _, err := parse(t, "version", "--config", writeFile(t, text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := parse(t, "version", "--config", "/does/not/exist.json"); err == nil {
		t.Error("a missing file: no error")
	}
	for _, args := range [][]string{
		{"fly"}, {"up", "--wings"}, {"key", "create", "--account", "A"}, {"replay"}, {"replay", "/does/not/exist.csv"},
		{"up", "--log-level", "loud"}, {"replay", "--register", "config_test.go"},
		{"replay", "--speed", "fast", "config_test.go"}, {"replay", "--speed", "-1x", "config_test.go"},
		{"serve", "--kafka-sasl", "kerberos"},
	} {
		if _, err := parse(t, args...); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// TestEveryCommandExplainsItself also holds that the help names no password.
func TestEveryCommandExplainsItself(t *testing.T) {
	t.Setenv("MOTORPOOL_CLICKHOUSE_PASSWORD", "sesame-open")
	for _, args := range [][]string{
		{}, {"up"}, {"serve"}, {"ingest"}, {"migrate"}, {"replay"}, {"doctor"}, {"version"}, {"account", "create"},
		{"account", "list"}, {"account", "limit"}, {"key", "create"}, {"key", "list"}, {"key", "revoke"},
		{"device", "create"}, {"device", "expect"}, {"device", "move"}, {"device", "list"}, {"device", "assign"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append(args, "--help"), &out, &errs); code != 0 {
			t.Errorf("%v --help: exit code %d: %s", args, code, errs.String())
		}
		if !strings.Contains(out.String(), "Usage: motorpool") || strings.Contains(out.String(), "sesame") {
			t.Errorf("%v --help prints %q", args, out.String())
		}
	}
}

func TestUsageErrorsHaveTheirOwnExitCode(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"up", "--wings"}, &out, &errs); code != exitUsage ||
		!strings.Contains(errs.String(), "wings") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if out.Len() > 0 {
		t.Errorf("a usage error prints to standard output: %q", out.String())
	}
	errs.Reset()
	if code := run(t.Context(), []string{"version"}, &out, &errs); code != 0 ||
		!strings.HasPrefix(out.String(), "motorpool ") {
		t.Errorf("version: exit code %d: %q %q", code, out.String(), errs.String())
	}
}

func TestTheEmbeddedPasswordIsFoundOnThisMachineOnly(t *testing.T) {
	data := t.TempDir()
	if err := writeSecret(filepath.Join(data, appPasswordFile), "secret"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		clickhouse string
		want       bool
	}{{"127.0.0.1:9000", true}, {"localhost:9000", true}, {"[::1]:9000", true}, {"db.example.com:9000", false},
		{"127.0.0.1:9000,10.0.0.1:9000", false}} {
		cli, err := parse(t, "version", "--data", data, "--clickhouse", tt.clickhouse)
		if err != nil {
			t.Fatal(err)
		}
		if got := cli.store().PasswordFile != ""; got != tt.want {
			t.Errorf("%s: password file used: %v", tt.clickhouse, got)
		}
	}
	cli, err := parse(t, "version", "--data", data, "--clickhouse-password", "mine")
	if err != nil {
		t.Fatal(err)
	}
	if config := cli.store(); config.PasswordFile != "" || config.Password != "mine" {
		t.Errorf("an explicit password is not used: %+v", config.PasswordFile)
	}
}
