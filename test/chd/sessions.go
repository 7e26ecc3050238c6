//go:build linux && amd64

package main

import "sync"

// maxIdle is the maximum number of idle connections.
const maxIdle = 32

// sessions are idle connections with a database and settings, in the order in which they became idle.
type sessions struct {
	mu   sync.Mutex
	idle []idleSession
}

type idleSession struct {
	name string // what was set on it
	conn uintptr
}

// take returns the connection with a name that was used last.
func (s *sessions) take(name string) (conn uintptr, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.idle) - 1; i >= 0; i-- {
		if s.idle[i].name == name {
			conn = s.idle[i].conn
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			return conn, true
		}
	}
	return 0, false
}

// add keeps a connection, and closes the one that has been idle for the longest time if there are too many.
func (s *sessions) add(name string, conn uintptr, closeConn func(uintptr)) {
	s.mu.Lock()
	s.idle = append(s.idle, idleSession{name, conn})
	var oldest uintptr
	if len(s.idle) > maxIdle {
		oldest = s.idle[0].conn
		s.idle = append(s.idle[:0], s.idle[1:]...)
	}
	s.mu.Unlock()
	if oldest != 0 {
		closeConn(oldest)
	}
}
