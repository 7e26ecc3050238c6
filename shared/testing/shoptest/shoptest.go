// Package shoptest runs an online shop for tests of conversions and experiments. The shop is a process of its own: visitors
// reach it by a short link, some of them buy, and the shop reports each order until the control plane has accepted it.
//
// The shop writes every order to a ledger before it reports the order. A test compares the stored conversions with the ledger.
package shoptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// source is the folder of the shop's program.
const source = "shared/testing/shoptest/shop"

// Config describes a shop and its visitors. The JSON form is the input of the program.
type Config struct {
	// Links are URLs of the short link, one for each edge. Visitors use them in turn, and another one if an edge does not answer.
	Links []string
	Host  string   // of the visits; "": that of the URL
	API   []string // base URLs of control planes, used like Links
	Key   string   // API key with the scope conversions:write
	Goal  string
	// Publishable is the workspace's publishable key. If it is set, pages of the shop at Origin report every third order to
	// the edges of Links. The shop's server reports the others.
	Publishable, Origin string
	// Rates are the probabilities that a visitor buys, by the path of the destination. A visitor who arrives at another path is
	// an error.
	Rates    map[string]float64
	Visitors int
	First    int    // number of the first visitor; the numbers name orders and choose addresses
	Seed     uint64 // of the decisions to buy
	Workers  int    // concurrent visitors; 0 means 1
	Ledger   string // path of the file to which orders are appended; Start sets it if it is empty
}

// Order is a line of the ledger.
type Order struct {
	Number   string `json:"number"` // the externalId of its conversion
	Click    string `json:"click"`  // click id
	Page     string `json:"page"`   // path of the destination
	Cents    int64  `json:"cents"`  // value in 1/100 of the currency's unit
	Currency string `json:"currency"`
}

// Sales is what the shop tells at its end.
type Sales struct {
	Visitors map[string]int `json:"visitors"` // by path of the destination
	Orders   map[string]int `json:"orders"`   // by path of the destination
	Unnamed  int            `json:"unnamed"`  // visitors without a click id, because the edge could not record their clicks
	Resent   int            `json:"resent"`   // reports that were sent again although they had been accepted
	Retries  int            `json:"retries"`  // visits and reports that failed and were tried again
}

// Shop is a running shop. It ends with the test.
type Shop struct {
	t       testing.TB
	cfg     Config
	visited atomic.Int64
	done    chan struct{}
	sales   Sales
	err     error
}

// Start starts a shop, whose visitors come at once.
func Start(t testing.TB, cfg Config) *Shop {
	t.Helper()
	program, err := testkit.Program(source)
	testkit.Must(t, err)
	if cfg.Ledger == "" {
		cfg.Ledger = filepath.Join(t.TempDir(), "ledger.jsonl")
	}
	input, err := json.Marshal(cfg)
	testkit.Must(t, err)
	s := &Shop{t: t, cfg: cfg, done: make(chan struct{})}
	cmd := exec.Command(program)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	in, err := cmd.StdinPipe() // it stays open: the shop ends when it is closed, also if the test is killed
	testkit.Must(t, err)
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // the shop may have ended
		<-s.done
	})
	go func() {
		defer close(s.done)
		read := s.follow(out)
		if s.err = cmd.Wait(); s.err != nil {
			s.err = fmt.Errorf("%w: %s", s.err, strings.TrimSpace(problems.String()))
		} else {
			s.err = read
		}
	}()
	if _, err := in.Write(append(input, '\n')); err != nil {
		t.Fatal(err)
	}
	return s
}

// follow reads the output of the shop: the number of visitors so far in each line, and at last its sales.
func (s *Shop) follow(out io.Reader) error {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "{") {
			return json.Unmarshal(lines.Bytes(), &s.sales)
		}
		var n int64
		if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
			return err
		}
		s.visited.Store(n)
	}
	return errors.New("the shop ended before its last visitor")
}

// Visited returns how many visitors have come and gone.
func (s *Shop) Visited() int { return int(s.visited.Load()) }

// Done is closed when the last order has been accepted, or the shop has failed.
func (s *Shop) Done() <-chan struct{} { return s.done }

// Wait waits for the last order, and fails the test if the shop failed.
func (s *Shop) Wait() Sales {
	s.t.Helper()
	<-s.done
	if s.err != nil {
		s.t.Fatal("the shop failed:", s.err)
	}
	return s.sales
}

// Ledger returns the orders by number.
func (s *Shop) Ledger() map[string]Order {
	s.t.Helper()
	b, err := os.ReadFile(s.cfg.Ledger)
	testkit.Must(s.t, err)
	list := map[string]Order{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var o Order
		testkit.Must(s.t, json.Unmarshal(lines.Bytes(), &o))
		if _, twice := list[o.Number]; twice {
			s.t.Fatalf("the ledger has order %s twice", o.Number)
		}
		list[o.Number] = o
	}
	return list
}

// Stored is a row of the click store's conversions.
type Stored struct {
	Click      string // click id
	Goal       string
	Value      int64 // in 1/conversion.ValueScale of the currency's unit
	Currency   string
	Number     string // the externalId
	Attributed bool
}

// Differences compares the ledger with all stored conversions of the link, and describes what is missing, repeated or wrong.
func (s *Shop) Differences(stored []Stored) (list []string) {
	s.t.Helper()
	left := s.Ledger()
	for _, c := range stored {
		o, known := left[c.Number]
		delete(left, c.Number)
		switch want := (Stored{o.Click, s.cfg.Goal, o.Cents * conversion.ValueScale / 100, o.Currency, o.Number, true}); {
		case !known:
			list = append(list, "not in the ledger, or stored twice: "+c.Number)
		case c != want:
			list = append(list, fmt.Sprintf("%+v is stored as %+v", o, c))
		}
	}
	for number := range left {
		list = append(list, "not stored: "+number)
	}
	return list
}
