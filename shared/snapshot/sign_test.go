package snapshot_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// signer returns a key made from one byte, and Keys that trust it.
func signer(t testing.TB, of byte) (snapshot.SigningKey, snapshot.Keys) {
	t.Helper()
	key, err := snapshot.ParseSigningKey(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{of}, 32)))
	testkit.Must(t, err)
	keys, err := snapshot.ParseKeys(key.Public())
	testkit.Must(t, err)
	return key, keys
}

func signedDocument(t testing.TB, key snapshot.SigningKey) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := snapshot.NewWriter(&b, snapshot.Cursor{Incarnation: 7, Revision: 42})
	testkit.Must(t, err)
	w.Sign(key)
	for i := range 3 {
		r := plain(i)
		testkit.Must(t, w.Add(&r))
	}
	testkit.Must(t, w.Close())
	return b.Bytes()
}

func read(b []byte, keys snapshot.Keys) error {
	_, err := snapshot.DecodeSigned(bytes.NewReader(b), snapshot.Limits{}, keys, func(*link.Record) error { return nil })
	return err
}

func readDelta(b []byte, keys snapshot.Keys) error {
	_, err := snapshot.DecodeSignedDelta(b, keys)
	return err
}

func TestSigned_who_is_believed(t *testing.T) {
	t.Parallel()
	one, trustsOne := signer(t, 1)
	two, trustsTwo := signer(t, 2)
	both, err := snapshot.ParseKeys(" " + two.Public() + ", " + one.Public() + ",")
	testkit.Must(t, err)
	d := someDelta()
	for _, form := range []struct {
		name string
		make func(snapshot.SigningKey) []byte
		read func([]byte, snapshot.Keys) error
	}{
		{"document", func(k snapshot.SigningKey) []byte { return signedDocument(t, k) }, read},
		{"delta", func(k snapshot.SigningKey) []byte { return snapshot.AppendSignedDelta(nil, &d, k) }, readDelta},
	} {
		unsigned, signed := form.make(snapshot.SigningKey{}), form.make(one)
		for _, c := range []struct {
			name string
			b    []byte
			keys snapshot.Keys
			want error
		}{
			{"unsigned, none needed", unsigned, snapshot.Keys{}, nil},
			{"signed, none needed", signed, snapshot.Keys{}, nil},
			{"signed", signed, trustsOne, nil},
			{"signed by one of two", signed, both, nil},
			{"signed by the other of two", form.make(two), both, nil},
			{"unsigned", unsigned, trustsOne, snapshot.ErrUnsigned},
			{"signed by another", signed, trustsTwo, snapshot.ErrUnsigned},
		} {
			if err := form.read(c.b, c.keys); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: %v", form.name, c.name, err)
			}
		}
		// Only the signature differs from the unsigned form, and any changed bit is detected.
		const signature = ed25519.SignatureSize
		if !bytes.Equal(signed[:len(signed)-signature-2], unsigned[:len(unsigned)-2]) || signed[len(signed)-signature-2] != signature {
			t.Errorf("%s: a signature changes other bytes too", form.name)
		}
		for i := range signed {
			b := bytes.Clone(signed)
			b[i] ^= 1 << (i % 8)
			if form.read(b, trustsOne) == nil {
				t.Errorf("%s: accepted with byte %d of %d changed", form.name, i, len(b))
			}
			if form.read(signed[:i], trustsOne) == nil {
				t.Errorf("%s: accepted although truncated at %d", form.name, i)
			}
		}
		if form.read(append(bytes.Clone(signed), 0), trustsOne) == nil {
			t.Errorf("%s: accepted with an additional byte", form.name)
		}
		// An attacker can compute a checksum for other bytes, but not a signature.
		other := form.make(two)
		if err := form.read(append(other[:len(other)-signature:len(other)-signature], signed[len(signed)-signature:]...),
			trustsTwo); !errors.Is(err, snapshot.ErrUnsigned) {
			t.Errorf("%s: signature of the same bytes by another key: %v", form.name, err)
		}
	}
}

// The signature of a document is not valid for other data that the key may sign, and vice versa. The value is fixed, because
// edges of other releases must compute the same.
func TestSigned_golden(t *testing.T) {
	t.Parallel()
	key, _ := signer(t, 1)
	b := snapshot.AppendSignedDelta(nil, &snapshot.Delta{Incarnation: 1, To: 1}, key)
	sum := b[len(b)-ed25519.SignatureSize-2-32 : len(b)-ed25519.SignatureSize-2]
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	want := ed25519.Sign(private, append([]byte("shortline snapshot 1\x00"), sum...))
	if got := b[len(b)-ed25519.SignatureSize:]; !bytes.Equal(got, want) {
		t.Errorf("the signature is %s, want %s", hex.EncodeToString(got), hex.EncodeToString(want))
	}
}

func TestParseKeys(t *testing.T) {
	t.Parallel()
	one, _ := signer(t, 1)
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)))
	testkit.Must(t, err)
	asPEM := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if k, err := snapshot.ParseSigningKey("\n" + asPEM); err != nil || k.Public() != one.Public() {
		t.Errorf("in PEM: %v, %v", k.Public(), err)
	}
	for _, bad := range []string{"x", "AAAA", strings.Repeat("A", 44), one.Public() + "=", strings.Replace(asPEM, "M", "N", 1)} {
		if _, err := snapshot.ParseSigningKey(bad); err == nil || strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{"x", ",", one.Public() + ",AAAA"} {
		if _, err := snapshot.ParseKeys(bad); err == nil {
			t.Errorf("%q is accepted as keys", bad)
		}
	}
	if k, err := snapshot.ParseSigningKey(" "); err != nil || !k.IsZero() || k.Public() != "" {
		t.Errorf("none: %v", err)
	}
	if k, err := snapshot.ParseKeys(""); err != nil || !k.IsZero() || len(k.Names()) != 0 {
		t.Errorf("none: %v", err)
	}
	if shown := fmt.Sprintf("%v %+v %#v %s", one, one, one, one); strings.ContainsAny(shown, "{[0") {
		t.Errorf("a key prints as %s", shown)
	}
}

func BenchmarkSign(b *testing.B) {
	key, keys := signer(b, 1)
	d := snapshot.Delta{Incarnation: 1, To: 1}
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			snapshot.AppendSignedDelta(nil, &d, key)
		}
	})
	wire := snapshot.AppendSignedDelta(nil, &d, key)
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if readDelta(wire, keys) != nil {
				b.Fatal("refused")
			}
		}
	})
}
