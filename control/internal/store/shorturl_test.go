package store

import "testing"

func TestLink_ShortURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, host, want string }{
		{"https://sho.rt", "", "https://sho.rt/x"},
		{"https://sho.rt:8443/", "", "https://sho.rt:8443/x"},
		{"https://sho.rt", "go.acme.com", "https://go.acme.com/x"},
		{"https://sho.rt:443", "go.acme.com", "https://go.acme.com/x"},
		{"https://sho.rt:8443", "go.acme.com", "https://go.acme.com:8443/x"}, // edges serve both on one port
		{"https://[2001:db8::1]", "go.acme.com", "https://go.acme.com/x"},
		{"http://127.0.0.1:8080", "go.acme.com", "http://go.acme.com/x"}, // behind a proxy, or for a try
	} {
		if got := (&Link{Slug: "x", Hostname: c.host}).ShortURL(c.base); got != c.want {
			t.Errorf("%s on %q: got %q, want %q", c.base, c.host, got, c.want)
		}
	}
}
