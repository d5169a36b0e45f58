package embedded

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ChildCommand is the hidden subcommand by which a program that calls
// [StartClickHouse] re-executes itself as the engine's process.
const ChildCommand = "embedded-clickhouse"

// keepListening opens both ports and then sleeps for ever: the engine serves
// for as long as this query runs.
const keepListening = "SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP; " +
	"SELECT sleepEachRow(1) FROM system.numbers FORMAT Null " +
	"SETTINGS function_sleep_max_microseconds_per_block=0, max_block_size=1"

// ChildConfig is what the engine's process needs to know. The parent writes
// it on the command line.
type ChildConfig struct {
	Library  string // path of libchdb.so
	Config   string // path of the ClickHouse configuration
	LogLevel string // ClickHouse's name for it: "warning"
}

// ParseChildArgs reads the arguments that follow [ChildCommand].
func ParseChildArgs(args []string) (ChildConfig, error) {
	var c ChildConfig
	flags := flag.NewFlagSet(ChildCommand, flag.ContinueOnError)
	flags.StringVar(&c.Library, "library", "", "path of libchdb.so")
	flags.StringVar(&c.Config, "config", "", "path of the ClickHouse configuration")
	flags.StringVar(&c.LogLevel, "log-level", "warning", "ClickHouse log level")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if c.Library == "" || c.Config == "" {
		return c, errors.New("-library and -config are required")
	}
	return c, nil
}

func (c ChildConfig) args() []string {
	return []string{"-library", c.Library, "-config", c.Config, "-log-level", c.LogLevel}
}

// ServeClickHouse turns the calling process into the ClickHouse server that
// args.Config describes. It blocks until the server ends, which SIGTERM asks
// for, and returns an error if it ended by itself. The process also ends, at
// once, when its standard input does: the parent holds the other end.
//
// The engine installs signal handlers and allocates for the whole process, so
// nothing else may run in it.
func ServeClickHouse(args ChildConfig) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	lib, err := purego.Dlopen(args.Library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", args.Library, err)
	}
	var cmdline func(argc int32, argv unsafe.Pointer) uintptr
	purego.RegisterLibFunc(&cmdline, lib, "chdb_query_cmdline")

	argv := []string{
		"clickhouse",
		"--config-file=" + args.Config,
		"--log-level=" + args.LogLevel,
		"--query", keepListening,
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	ptrs := make([]*byte, len(argv)+1) // ends with a null pointer, like main's
	for i, arg := range argv {
		b := append([]byte(arg), 0)
		pin.Pin(&b[0])
		ptrs[i] = &b[0]
	}
	pin.Pin(&ptrs[0])
	cmdline(int32(len(argv)), unsafe.Pointer(&ptrs[0]))
	return errors.New("the engine ended; its own message is above")
}
