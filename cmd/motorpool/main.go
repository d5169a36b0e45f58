// Command motorpool is the whole of Motorpool in one program: `up` runs everything on one machine, `serve` and
// `ingest` are its two halves against engines elsewhere, and the other commands work beside them.
//
// Each command is a function of a context, its settings and where to write, in a file of its own, and wires its parts
// by hand in the order in which they depend on each other.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/crypto/acme/autocert"

	"github.com/motorpool/fleet/deploy/embedded"
)

// version is set by the linker.
var version = "dev"

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == embedded.ChildCommand {
		os.Exit(runChild(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the next one has its default effect: the process ends at once. Nothing is lost by that.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// runChild turns this process into the embedded ClickHouse. `up` executes the program again for it; it is no command
// for people.
func runChild(args []string) int {
	config, err := embedded.ParseChildArgs(args)
	if err == nil {
		err = embedded.ServeClickHouse(config)
	}
	fmt.Fprintln(os.Stderr, err)
	return exitFailure
}

// commands is the command line: the settings that all commands share, and the commands.
type commands struct {
	settings

	Up      upCommand      `cmd:"" help:"Run everything on this machine: ClickHouse, broker, pipeline and interface."`
	Serve   serveCommand   `cmd:"" help:"Run the HTTP interface against a ClickHouse and a Kafka elsewhere."`
	Ingest  ingestCommand  `cmd:"" help:"Run the pipeline against a ClickHouse and a Kafka elsewhere."`
	Notify  notifyCommand  `cmd:"" help:"Send events to webhook endpoints, against a ClickHouse and a Kafka elsewhere, or beside 'up'."`
	Migrate migrateCommand `cmd:"" help:"Bring ClickHouse to the newest schema and make the topics that are missing."`
	Replay  replayCommand  `cmd:"" help:"Send recordings (CSV, GPX, Traccar JSON, NMEA 0183) through the pipeline."`
	Demo    demoCommand    `cmd:"" help:"Make up two years of the demo's rental business."`
	Account accountCommand `cmd:"" help:"Make and list accounts."`
	Key     keyCommand     `cmd:"" help:"Make, list and revoke API keys."`
	User    userCommand    `cmd:"" help:"Make, list and remove the people who sign in."`
	Device  deviceCommand  `cmd:"" help:"Make, list and assign trackers, and say whose they are."`
	BI      biCommand      `cmd:"" name:"bi" help:"Let analysts and BI tools read an account from ClickHouse."`
	Doctor  doctorCommand  `cmd:"" help:"Look whether everything is there and set up well, and say what to do if not."`
	Facts   factsCommand   `cmd:"" help:"Make what reports stand on again, of an account."`
	Backup  backupCommand  `cmd:"" help:"Make a backup of everything while it runs, into a folder or S3."`
	Restore restoreCommand `cmd:"" help:"Make an empty data folder or database from a backup."`
	Listen  listenCommand  `cmd:"" help:"Print an account's events, and forward them to an address, while one develops."`
	Seal    sealCommand    `cmd:"" help:"Keys that secrets such as those of webhooks are sealed with."`
	OpenAPI openapiCommand `cmd:"" name:"openapi" help:"Print the description of the interface (OpenAPI 3.1)."`
	Version versionCommand `cmd:"" help:"Say which version this is."`
}

const about = `Fleet management and GPS tracking in one program.

  motorpool up --demo                              everything on this machine, with a demo fleet
  motorpool key create --account Acme --scopes admin    a key for the interface, alone on standard output
  motorpool replay --account Acme --register drive.gpx --wait
  motorpool doctor                                 what is wrong, and what to do about it

Every setting is a flag, an environment variable (MOTORPOOL_ and the flag's name) and a member of the JSON file that
--config names, in this order of precedence. A running "up" keeps its passwords in the data folder, where the other
commands find them.`

// output is where a command writes: results to out, everything for people who watch to err.
type output struct {
	out, err io.Writer
}

// exitCode unwinds kong, which exits where it prints help.
type exitCode int

// run executes the command that args name and returns the exit code. It returns when ctx has ended and everything the
// command started has stopped.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case exitCode:
			code = int(reason)
		default:
			panic(reason)
		}
	}()
	var cli commands
	parser, err := newParser(&cli, output{out: stdout, err: stderr}, func(code int) { panic(exitCode(code)) })
	if err != nil {
		panic(err) // the structure above is wrong
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "motorpool: %v; --help explains\n", err)
		return exitUsage
	}
	parsed.Bind(cli.settings)
	parsed.Bind(output{out: stdout, err: stderr})
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run()
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
		return exitFailure
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "motorpool: stopped")
		return exitFailure
	}
	fmt.Fprintf(stderr, "motorpool: %v\n", err)
	return exitFailure
}

func newParser(cli *commands, o output, exit func(int)) (*kong.Kong, error) {
	return kong.New(cli,
		kong.Name("motorpool"), kong.Description(about),
		kong.Writers(o.out, o.err), kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.DefaultEnvars("MOTORPOOL"), kong.Configuration(loadFile),
		kong.Vars{"scopes": scopeNames(), "acme_directory": autocert.DefaultACMEDirectory},
	)
}

// errReported is the failure of a command that has said all there is to say.
var errReported = errors.New("reported")
