package clickhouse

import (
	"errors"
	"net/http"
	"slices"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/shortline/shortline/control/internal/platform/problem"
)

// awayCodes are errors of a server that is overloaded, read-only or cut off, or that stops. The same statement may succeed
// later or at another replica.
var awayCodes = []int{
	159, // TIMEOUT_EXCEEDED
	164, // READONLY
	202, // TOO_MANY_SIMULTANEOUS_QUERIES
	209, // SOCKET_TIMEOUT
	210, // NETWORK_ERROR
	236, // ABORTED
	241, // MEMORY_LIMIT_EXCEEDED: by all queries together, or by a long report
	242, // TABLE_IS_READ_ONLY
	279, // ALL_CONNECTION_TRIES_FAILED
	285, // TOO_FEW_LIVE_REPLICAS
	286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
	289, // REPLICA_IS_NOT_IN_QUORUM
	319, // UNKNOWN_STATUS_OF_INSERT
	341, // UNFINISHED: a replica has not changed its table yet
	369, // ALL_REPLICAS_ARE_STALE
	394, // QUERY_WAS_CANCELLED: by the server, when it stops
	999, // KEEPER_EXCEPTION
}

var errAway = &problem.Error{Kind: problem.Unavailable, Message: "The click store is not available at the moment. Try again shortly.",
	RetryAfter: 5 * time.Second}

// away makes an error a problem.Unavailable for callers of the API. Its text and its chain stay, for logs and for code.
type away struct{ error }

func (a away) Unwrap() []error { return []error{a.error, errAway} }

// mark returns err as a problem.Unavailable if it is one. Errors of the network are not marked, because package api
// recognizes them itself.
func mark(err error) error {
	var reply *driver.HTTPError
	switch {
	case err == nil || errors.As(err, new(*problem.Error)):
		return err
	case errors.Is(err, driver.ErrAcquireConnTimeout), slices.Contains(awayCodes, code(err)):
		return away{err}
	case errors.As(err, &reply) && code(err) == 0 && (reply.StatusCode == http.StatusBadGateway ||
		reply.StatusCode == http.StatusServiceUnavailable || reply.StatusCode == http.StatusGatewayTimeout):
		return away{err} // from a balancer without a server
	}
	return err
}
