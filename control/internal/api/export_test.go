package api

import "strings"

// Endpoints is every route that is served, as "GET /api/urls/{id}", for tests.
func (s *Server) Endpoints() []string {
	var list []string
	for _, e := range s.endpoints {
		list = append(list, e.Method+" "+strings.ReplaceAll(e.Path, "*", "{key}"))
	}
	return list
}

// TakeTurns takes every place for large bodies and returns what gives them back, for tests.
func (s *Server) TakeTurns() (giveBack func()) {
	for range cap(s.large) {
		s.large <- struct{}{}
	}
	return func() {
		for range cap(s.large) {
			<-s.large
		}
	}
}
