package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the default of RFC 6238, and the only hash that all authenticator apps support
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

// NewTOTPSecret generates a secret for time-based codes: 160 bits in base32.
func NewTOTPSecret() string {
	b := make([]byte, 20)
	rand.Read(b) // never fails
	return base32Plain.EncodeToString(b)
}

// TOTPAddress returns the otpauth URL for the QR code of authenticator apps.
func TOTPAddress(issuer, account, secret string) string {
	q := url.Values{"secret": {secret}, "issuer": {issuer}, "algorithm": {"SHA1"}, "digits": {"6"}, "period": {fmt.Sprint(totpPeriod)}}
	return "otpauth://totp/" + url.PathEscape(issuer+":"+account) + "?" + q.Encode()
}

// TOTPCode returns the code of a time step (RFC 6238 with RFC 4226: HMAC-SHA-1, six digits).
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

// TOTPStep returns the time step at t.
func TOTPStep(t time.Time) int64 { return t.Unix() / totpPeriod }

// MatchTOTP returns the time step of a code: the step at t or one of its neighbours. The caller must check in the store
// that the step was not used before.
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

// NewRecoveryCodes generates ten codes of 80 bits each.
func NewRecoveryCodes() []string {
	codes := make([]string, 10)
	for i := range codes {
		c := strings.ToLower(rand.Text()[:16])
		codes[i] = c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:]
	}
	return codes
}

// RecoveryHash returns the stored hash of a recovery code. One round of SHA-256 is enough, because codes are random.
func RecoveryHash(userID, code string) string {
	plain := strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(strings.TrimSpace(code)))
	sum := sha256.Sum256([]byte(userID + "|" + plain))
	return hex.EncodeToString(sum[:])
}
