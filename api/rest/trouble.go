package rest

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
)

// CodeTooMuch is the refusal of a question whose answer takes more of the store than one question may. To ask again
// does not help.
const CodeTooMuch fleet.Code = "question_too_large"

// Codes of ClickHouse that say that it cannot now, not that something is wrong.
const (
	ClickHouseTimeout        = 159 // TIMEOUT_EXCEEDED
	chTooSlow                = 160 // TOO_SLOW
	ClickHouseTooManyQueries = 202 // TOO_MANY_SIMULTANEOUS_QUERIES
	chNoConnection           = 203 // NO_FREE_CONNECTION
	chSocketTimeout          = 209 // SOCKET_TIMEOUT
	chNetwork                = 210 // NETWORK_ERROR
	chAborted                = 236 // ABORTED: it is stopping
	ClickHouseMemory         = 241 // MEMORY_LIMIT_EXCEEDED
	chReadOnly               = 242 // TABLE_IS_READ_ONLY
	ClickHouseNoSpace        = 243 // NOT_ENOUGH_SPACE
	ClickHouseTooManyParts   = 252 // TOO_MANY_PARTS
	chFewReplicas            = 285 // TOO_FEW_LIVE_REPLICAS
	chCancelled              = 394 // QUERY_WAS_CANCELLED
	chNoThread               = 439 // CANNOT_SCHEDULE_TASK
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
	case ClickHouseNoSpace:
		return fleet.NewError(fleet.CodeFull,
			"The store has no room left on its disk. What was acknowledged is kept; send it again later.")
	case ClickHouseTooManyParts:
		return trouble("The store has to tidy up what was written before it takes more.", soon)
	case chSocketTimeout, chNetwork, chAborted, chReadOnly, chFewReplicas, chKeeper:
		return trouble("The store is not all there, or about to stop.", soon)
	}
	return nil
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
