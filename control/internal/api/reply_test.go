package api_test

import (
	"fmt"
	"strings"
	"sync"
)

// shows fails the test unless each path has the value after it. The path "data.#" is the length of "data", which must be a list.
// Lists and objects are compared in the form that fmt.Sprint gives them.
func (r *reply) shows(pairs ...any) *reply {
	r.w.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path, want := pairs[i].(string), pairs[i+1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		got := r.at(path)
		if list, ok := strings.CutSuffix(path, ".#"); ok {
			if elements, ok := r.at(list).([]any); ok {
				got = float64(len(elements))
			}
		}
		switch got.(type) {
		case []any, map[string]any:
			got = fmt.Sprint(got)
		}
		if got != want {
			r.w.t.Errorf("%s: %s is %v, want %v: %s", r.what, path, got, want, r.text)
		}
	}
	return r
}

// says fails the test unless the body contains the texts.
func (r *reply) says(texts ...string) *reply {
	r.w.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.text, text) {
			r.w.t.Errorf("%s: no %q: %s", r.what, text, r.text)
		}
	}
	return r
}

// omits fails the test if the body contains one of the texts.
func (r *reply) omits(texts ...string) *reply {
	r.w.t.Helper()
	for _, text := range texts {
		if at := strings.Index(r.text, text); at >= 0 {
			r.w.t.Errorf("%s: %q in ...%s", r.what, text, r.text[max(0, at-200):min(len(r.text), at+len(text)+200)])
		}
	}
	return r
}

// atOnce sends n requests at the same time and counts the statuses of the replies.
func atOnce(n int, send func(i int) *reply) map[int]int {
	statuses := map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			r := send(i)
			mu.Lock()
			defer mu.Unlock()
			statuses[r.StatusCode]++
		})
	}
	close(start)
	wg.Wait()
	return statuses
}
