package testkit

import (
	"net"
	"testing"
)

// TestFree does not run beside other tests: a process that one of them starts would keep the socket of the listener
// for a moment.
func TestFree(t *testing.T) {
	taken := firstPort
	var l net.Listener
	for ; l == nil; taken++ {
		if reserve(t, taken) {
			l, _ = net.Listen("tcp", (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: taken}).String())
		}
	}
	taken--
	if free(taken) {
		t.Errorf("port %d is free although this test listens on it", taken)
	}
	l.Close()
	if !free(taken) {
		t.Errorf("port %d is not free after the listener has closed", taken)
	}
}
