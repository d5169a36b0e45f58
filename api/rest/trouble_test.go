package rest

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
)

// What a disk or a connection refuses the store is no fault of ours, under whichever code it says so; of a full disk a
// read is told to ask again, and a write that it is not done.
func TestWhatADiskRefusesTheStoreIsNoFaultOfOurs(t *testing.T) {
	const full = "Cannot write to file /data/store/tmp.bin: , errno: 28, strerror: No space left on device"
	for _, test := range []struct {
		err         error
		read, write fleet.Code
	}{
		{&clickhouse.Exception{Code: 243, Message: "Cannot reserve 1.00 MiB, not enough space"},
			fleet.CodeUnavailable, fleet.CodeFull},
		{&clickhouse.Exception{Code: 75, Message: full}, fleet.CodeUnavailable, fleet.CodeFull},
		{&clickhouse.Exception{Code: 1001, Message: "std::exception. Code: 1001, " +
			"e.what() = filesystem error: in create_directories: No space left on device"}, fleet.CodeUnavailable, fleet.CodeFull},
		{&fs.PathError{Op: "write", Path: "/data/segment", Err: syscall.ENOSPC}, fleet.CodeUnavailable, fleet.CodeFull},
		{&clickhouse.Exception{Code: 76, Message: "Cannot open file: Too many open files"},
			fleet.CodeUnavailable, fleet.CodeUnavailable},
		{&clickhouse.Exception{Code: 173, Message: "Cannot mmap"}, fleet.CodeUnavailable, fleet.CodeUnavailable},
		{&clickhouse.Exception{Code: 101, Message: "Unexpected packet Data received from client"},
			fleet.CodeUnavailable, fleet.CodeUnavailable},
		{syscall.ECONNRESET, fleet.CodeUnavailable, fleet.CodeUnavailable},
		{&clickhouse.Exception{Code: 49, Message: "Logical error"}, codeInternal, codeInternal},
	} {
		err := fmt.Errorf("list expenses: %w", test.err)
		read, ours := ProblemOf(err)
		write, _ := ProblemOfWrite(err)
		if fleet.Code(read.Code) != test.read || fleet.Code(write.Code) != test.write || !ours {
			t.Errorf("%v: %s of a read, %s of a write", test.err, read.Code, write.Code)
		}
	}
}
