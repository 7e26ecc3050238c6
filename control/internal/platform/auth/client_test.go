package auth

import "testing"

func TestH3_ClientOf(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::",
		"fe80::1%eth0": "fe80::", "": "",
		"pipe": "pipe",
	} {
		if got := ClientOf(ip); got != want {
			t.Errorf("%s is %s, want %s", ip, got, want)
		}
	}
}
