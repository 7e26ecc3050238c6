package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238's default, and the only hash that every authenticator app knows
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"
)

const totpPeriod = 30 // seconds

var base32Plain = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewTOTPSecret draws a secret for time-based codes: 160 bits in base32.
func NewTOTPSecret() string {
	b := make([]byte, 20)
	rand.Read(b) // never fails
	return base32Plain.EncodeToString(b)
}

// TOTPAddress is the otpauth address that authenticator apps read from a QR code.
func TOTPAddress(issuer, account, secret string) string {
	q := url.Values{"secret": {secret}, "issuer": {issuer}, "algorithm": {"SHA1"}, "digits": {"6"}, "period": {fmt.Sprint(totpPeriod)}}
	return "otpauth://totp/" + url.PathEscape(issuer+":"+account) + "?" + q.Encode()
}

// TOTPCode is the code of a time step (RFC 6238 over RFC 4226: HMAC-SHA-1, six digits).
func TOTPCode(secret string, step int64) (string, error) {
	key, err := base32Plain.DecodeString(strings.TrimRight(strings.ToUpper(secret), "="))
	if err != nil {
		return "", fmt.Errorf("second factor: the secret is not base32: %w", err)
	}
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac := hmac.New(sha1.New, key)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0x0f
	return fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[offset:])&0x7fffffff)%1_000_000), nil
}

// TOTPStep is the time step at t.
func TOTPStep(t time.Time) int64 { return t.Unix() / totpPeriod }

// MatchTOTP returns the step, of the one at t and its two neighbours, whose code was given. Whether that step
// was used before is for the caller to ask the store.
func MatchTOTP(secret, code string, t time.Time) (step int64, ok bool, err error) {
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	now := TOTPStep(t)
	for s := now - 1; s <= now+1; s++ {
		want, err := TOTPCode(secret, s)
		if err != nil {
			return 0, false, err
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			step, ok = s, true
		}
	}
	return step, ok, nil
}

// NewRecoveryCodes draws ten codes of 80 bits each.
func NewRecoveryCodes() []string {
	codes := make([]string, 10)
	for i := range codes {
		c := strings.ToLower(rand.Text()[:16])
		codes[i] = c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:]
	}
	return codes
}

// RecoveryHash is what is kept of a recovery code. The code is random, so one round of SHA-256 is enough.
func RecoveryHash(userID, code string) string {
	plain := strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(strings.TrimSpace(code)))
	sum := sha256.Sum256([]byte(userID + "|" + plain))
	return hex.EncodeToString(sum[:])
}
