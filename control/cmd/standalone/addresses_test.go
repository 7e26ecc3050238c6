package main

import "testing"

// With only TLS_ADDR set, a machine with a public name serves https under this name, and redirects from port 80.
func TestAddresses_follow_from_each_other(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ listen, tls, base, machine, wantListen, wantBase string }{
		{"", "", "", "go.example.com", "127.0.0.1:8080", "http://127.0.0.1:8080"},
		{":9000", "", "", "go.example.com", ":9000", "http://127.0.0.1:9000"},
		{"", ":443", "", "go.example.com", ":80", "https://go.example.com"},
		{"", ":8443", "", "go.example.com", "127.0.0.1:8080", "https://go.example.com:8443"},
		{":8080", ":443", "", "go.example.com", ":8080", "https://go.example.com"},
		{"", ":443", "https://sho.rt", "go.example.com", ":80", "https://sho.rt"},
		{"", ":443", "", "laptop", ":80", "http://127.0.0.1:80"}, // rejected, because TLS needs https
	} {
		listen, base := addresses(c.listen, c.tls, c.base, c.machine)
		if listen != c.wantListen || base != c.wantBase {
			t.Errorf("%+v: got %s %s", c, listen, base)
		}
	}
}
