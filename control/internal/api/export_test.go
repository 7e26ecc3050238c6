package api

import "strings"

// Endpoints returns every served route, such as "GET /api/urls/{id}", for tests.
func (s *Server) Endpoints() []string {
	var list []string
	for _, e := range s.endpoints {
		list = append(list, e.Method+" "+strings.ReplaceAll(e.Path, "*", "{key}"))
	}
	return list
}

// TakeTurns takes every slot for large bodies and returns a function that releases them, for tests.
func (s *Server) TakeTurns() (release func()) {
	for range cap(s.large) {
		s.large <- struct{}{}
	}
	return func() {
		for range cap(s.large) {
			<-s.large
		}
	}
}
