package listen_test

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/shortline/shortline/edge/internal/listen"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// A server closes the listener while the loops that accept connections notice the end of a port and close it, too. Neither
// may get the error of the other.
func TestListener_closes_both_ports_once(t *testing.T) {
	t.Parallel()
	for round := range 50 {
		plain, err := net.Listen("tcp", "127.0.0.1:0")
		testkit.Must(t, err)
		secure, err := net.Listen("tcp", "127.0.0.1:0")
		testkit.Must(t, err)
		l := listen.New(plain, listen.Timeouts{})
		l.AwaitHeads(10)
		l.Secure(secure, listen.TLS{Config: &tls.Config{}})
		ended := make(chan error, 1)
		go func() { _, err := l.Accept(); ended <- err }()
		<-l.Accepts()
		if err := l.Close(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := <-ended; err == nil {
			t.Fatalf("round %d: a closed listener accepted a connection", round)
		}
	}
}
