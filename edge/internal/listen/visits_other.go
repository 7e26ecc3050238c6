//go:build !linux

package listen

import "net"

// visits is a loop that answers visits. On this system, each connection has a goroutine.
type visits struct{}

func (*Listener) newVisits(net.Listener) (*visits, error) { return nil, nil }

func (*visits) admit() error   { return nil }
func (*visits) stop() error    { return nil }
func (*visits) expire(int64)   {}
func (*visits) makeRoom() bool { return false }
func (*visits) waiting() int   { return 0 }

func (*conn) park() bool { return false }
