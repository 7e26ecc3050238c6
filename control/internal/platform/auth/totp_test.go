package auth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// The secret and the times of RFC 6238, appendix B; its eight digits end in these six.
const rfcSecret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

func TestTOTP_vectors_of_RFC_6238(t *testing.T) {
	t.Parallel()
	for unix, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		got, err := auth.TOTPCode(rfcSecret, auth.TOTPStep(time.Unix(unix, 0)))
		if err != nil || got != want {
			t.Errorf("at %d: %s, want %s (%v)", unix, got, want, err)
		}
	}
	if _, err := auth.TOTPCode("not base32!", 1); err == nil {
		t.Error("a secret that is not base32 is accepted")
	}
}

func TestTOTP_neighbouring_steps_match(t *testing.T) {
	t.Parallel()
	now := time.Unix(1234567890, 0)
	for off, want := range map[int64]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		code, err := auth.TOTPCode(rfcSecret, auth.TOTPStep(now)+off)
		testkit.Must(t, err)
		step, ok, err := auth.MatchTOTP(rfcSecret, " "+code[:3]+" "+code[3:], now)
		if err != nil || ok != want || ok && step != auth.TOTPStep(now)+off {
			t.Errorf("%+d: %v %d %v", off, ok, step, err)
		}
	}
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range auth.NewRecoveryCodes() {
		seen[c] = true
		if auth.RecoveryHash("u", c) != auth.RecoveryHash("u", " "+strings.ToUpper(strings.ReplaceAll(c, "-", ""))) {
			t.Errorf("%s: case and dashes should not matter", c)
		}
		if auth.RecoveryHash("u", c) == auth.RecoveryHash("v", c) {
			t.Errorf("%s: two users share a hash", c)
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d different codes", len(seen))
	}
}

func TestNewKey(t *testing.T) {
	t.Parallel()
	count := map[byte]int{}
	for range 230 {
		k := auth.NewKey()
		if len(k) != 63 || !strings.HasPrefix(k, auth.KeyPrefix) {
			t.Fatal(k)
		}
		for _, c := range []byte(k[3:57]) {
			count[c]++
		}
	}
	if len(count) != 62 { // 12,420 draws: each of 62 about 200 times
		t.Errorf("%d different characters, want 62", len(count))
	}
}

func FuzzMatchTOTP(f *testing.F) {
	f.Add("287082", int64(59))
	f.Add("", int64(0))
	f.Add("٢٨٧٠٨٢", int64(59))
	f.Fuzz(func(t *testing.T, code string, unix int64) {
		unix &= 1<<40 - 1
		step, ok, err := auth.MatchTOTP(rfcSecret, code, time.Unix(unix, 0))
		testkit.Must(t, err)
		if !ok {
			return
		}
		want, _ := auth.TOTPCode(rfcSecret, step)
		if strings.ReplaceAll(strings.TrimSpace(code), " ", "") != want {
			t.Fatalf("%q matches step %d, whose code is %s", code, step, want)
		}
	})
}
