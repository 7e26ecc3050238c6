//go:build !linux

package listen

import "net"

// visits answers visits. On this system, the server answers all requests.
type visits struct{}

func (*Listener) newVisits(net.Listener) (*visits, error) { return nil, nil }

func (*visits) admit() error   { return nil }
func (*visits) stop() error    { return nil }
func (*visits) expire(int64)   {}
func (*visits) makeRoom() bool { return false }
func (*visits) waiting() int   { return 0 }

func (*conn) release()    {}
func (*conn) leave() bool { return false }
