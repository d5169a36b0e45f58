package rest

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
)

// CodeTooMuch is the refusal of a question whose answer takes more of the store than one question may. To ask again
// does not help.
const CodeTooMuch fleet.Code = "question_too_large"

// Codes of ClickHouse that say that it cannot now, not that something is wrong.
const (
	chReadFile               = 74  // CANNOT_READ_FROM_FILE_DESCRIPTOR
	chWriteFile              = 75  // CANNOT_WRITE_TO_FILE_DESCRIPTOR
	chOpenFile               = 76  // CANNOT_OPEN_FILE
	chCloseFile              = 77  // CANNOT_CLOSE_FILE
	chTruncateFile           = 88  // CANNOT_TRUNCATE_FILE
	chReadSocket             = 95  // CANNOT_READ_FROM_SOCKET
	chWriteSocket            = 96  // CANNOT_WRITE_TO_SOCKET
	chClientPacket           = 101 // UNEXPECTED_PACKET_FROM_CLIENT: what was before on the connection is not over
	chServerPacket           = 102 // UNEXPECTED_PACKET_FROM_SERVER
	ClickHouseTimeout        = 159 // TIMEOUT_EXCEEDED
	chTooSlow                = 160 // TOO_SLOW
	chMakeFolder             = 172 // CANNOT_CREATE_DIRECTORY
	chAllocate               = 173 // CANNOT_ALLOCATE_MEMORY: the system has none
	ClickHouseTooManyQueries = 202 // TOO_MANY_SIMULTANEOUS_QUERIES
	chNoConnection           = 203 // NO_FREE_CONNECTION
	chSyncFile               = 204 // CANNOT_FSYNC
	chSocketTimeout          = 209 // SOCKET_TIMEOUT
	chNetwork                = 210 // NETWORK_ERROR
	chAborted                = 236 // ABORTED: it is stopping
	ClickHouseMemory         = 241 // MEMORY_LIMIT_EXCEEDED
	chReadOnly               = 242 // TABLE_IS_READ_ONLY
	ClickHouseNoSpace        = 243 // NOT_ENOUGH_SPACE
	ClickHouseTooManyParts   = 252 // TOO_MANY_PARTS
	chFewReplicas            = 285 // TOO_FEW_LIVE_REPLICAS
	chWriteToFile            = 294 // CANNOT_WRITE_TO_FILE
	chCancelled              = 394 // QUERY_WAS_CANCELLED
	chNoThread               = 439 // CANNOT_SCHEDULE_TASK
	chMakeFile               = 586 // CANNOT_CREATE_FILE
	chOverloaded             = 745 // SERVER_OVERLOADED
	chKeeper                 = 999 // KEEPER_EXCEPTION
)

// StoreTrouble is the one table from what a store or broker says to what the caller is told of it; nil for what is a
// fault of ours. All but a question that is too large may pass by itself.
func StoreTrouble(err error) *fleet.Error { return storeTrouble(err, false) }

// look is what is told whoever asked for a write that the store failed in: it may have done so afterwards.
const look = "Look whether what you asked for was done before you repeat it, or use an Idempotency-Key."

// storeTrouble is StoreTrouble of a request that writes something, or does not.
func storeTrouble(err error, writes bool) *fleet.Error {
	trouble := func(words, then string) *fleet.Error {
		if writes {
			then = look
		}
		return fleet.NewError(fleet.CodeUnavailable, words+" "+then)
	}
	if noRoom(err) {
		if writes {
			return fleet.NewError(fleet.CodeFull,
				"The store has no room left on its disk. What was acknowledged is kept; send it again later.")
		}
		return trouble("There is no room left on the disk, and this needs some.",
			"Ask for less at once, or again when there is room.")
	}
	said, ok := errors.AsType[*clickhouse.Exception](err)
	if !ok {
		if LostDependency(err) {
			return trouble("The store did not answer in time.", "Try again.")
		}
		return nil
	}
	const soon = "Try again in some seconds."
	switch said.Code {
	case ClickHouseTimeout, chTooSlow, chCancelled:
		return trouble("The store did not come to an end in time.", "Try again, or ask for less at once.")
	case ClickHouseTooManyQueries, chNoConnection, chNoThread, chOverloaded:
		return trouble("The store has as much to do as it can.", soon)
	case ClickHouseMemory:
		if strings.Contains(strings.ToLower(said.Message), "query memory limit exceeded") {
			return fleet.NewError(CodeTooMuch,
				"The answer takes more memory than one question may have. Ask for a shorter span, a smaller area or fewer things at once.")
		}
		return trouble("The store has no memory left for this now.", soon)
	case chAllocate:
		return trouble("The store has no memory left for this now.", soon)
	case chReadFile, chWriteFile, chOpenFile, chCloseFile, chTruncateFile, chMakeFolder, chSyncFile, chWriteToFile,
		chMakeFile:
		return trouble("The store cannot read or write its disk now.", soon)
	case ClickHouseTooManyParts:
		return trouble("The store has to tidy up what was written before it takes more.", soon)
	case chSocketTimeout, chNetwork, chAborted, chReadOnly, chFewReplicas, chKeeper, chReadSocket, chWriteSocket,
		chClientPacket, chServerPacket:
		return trouble("The store is not all there, or about to stop.", soon)
	}
	return nil
}

// noRoom says whether a disk is full: that of the store, which says so by its own code where it keeps room free, else
// in the words of the system under many codes, or that of this process.
func noRoom(err error) bool {
	if said, ok := errors.AsType[*clickhouse.Exception](err); ok {
		return said.Code == ClickHouseNoSpace || strings.Contains(said.Message, "No space left on device")
	}
	return errors.Is(err, syscall.ENOSPC)
}

// bounded returns a context whose questions to the store have a bound on the memory that they take, so that the memory
// of the server stays with what is written. The driver bounds their time by the deadline. Inserts, which have settings
// of their own, have none.
func (a *Server) bounded(ctx context.Context) context.Context {
	if a.Config.QueryMemory == 0 {
		return ctx
	}
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"max_memory_usage": a.Config.QueryMemory}))
}

// LostDependency says whether an error is a store or broker that does not answer.
func LostDependency(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return slices.ContainsFunc([]error{context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF,
		clickhouse.ErrAcquireConnTimeout,
		clickhouse.ErrConnectionClosed}, func(lost error) bool { return errors.Is(err, lost) })
}
