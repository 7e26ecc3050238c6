package keys

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shortline/shortline/control/internal/manage/audit"
	"github.com/shortline/shortline/control/internal/platform/auth"
	"github.com/shortline/shortline/control/internal/platform/problem"
	"github.com/shortline/shortline/control/internal/store"
)

// A program without a browser, such as the command line program, gets an API key by pairing (RFC 8628 calls it the device flow): it
// shows a code, the user confirms the same code in the console, and the program then redeems its device code for a key. The key is
// made only then, so it is nowhere before the program has it.

// PairingLife is how long a program waits for a confirmation.
const PairingLife = 10 * time.Minute

// The states of a pairing.
const (
	PairingPending  = "PENDING"
	PairingApproved = "APPROVED"
	PairingRefused  = "REFUSED"
)

// letters of codes that people compare: without vowels, which could form words, and without letters that look like others.
const letters = "BCDFGHJKLMNPQRSTVWXZ"

// Pairing is a program that waits for its code to be confirmed.
type Pairing struct {
	DeviceCode string // the program's secret; only BeginPairing returns it
	UserCode   string // such as WDJB-MJHT
	Name       string // what the program calls itself
	IP         string // of the program
	CreatedAt  int64
	ExpiresAt  int64
}

// BeginPairing starts the pairing of a program that calls itself name and has the address ip.
func (s *Service) BeginPairing(ctx context.Context, name, ip string) (Pairing, error) {
	var v problem.Fields
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n < 1 || n > maxName {
		v.Add("name", "must have 1 to %d characters", maxName)
	}
	if err := v.Err(); err != nil {
		return Pairing{}, err
	}
	var random [32]byte
	rand.Read(random[:]) // never fails
	now := store.Now()
	p := Pairing{
		DeviceCode: base64.RawURLEncoding.EncodeToString(random[:]), UserCode: newUserCode(), Name: name, IP: ip,
		CreatedAt: now, ExpiresAt: now + PairingLife.Milliseconds(),
	}
	err := s.store.Tx(ctx, func(tx *store.Tx) error {
		return tx.InsertPairing(ctx, store.Pairing{
			Hash: auth.Digest(p.DeviceCode), Code: p.UserCode, Name: p.Name, IP: p.IP, CreatedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt,
		})
	})
	if err != nil {
		return Pairing{}, fmt.Errorf("insert a pairing: %w", err)
	}
	return p, nil
}

func newUserCode() string {
	const length = 8 // 34 bits; codes live for ten minutes, and only signed-in users can ask for one
	code := make([]byte, 0, length+1)
	var one [1]byte
	for len(code) < length+1 {
		if len(code) == length/2 {
			code = append(code, '-')
		}
		rand.Read(one[:])
		if int(one[0]) < 256/len(letters)*len(letters) { // every letter is equally likely
			code = append(code, letters[int(one[0])%len(letters)])
		}
	}
	return string(code)
}

// userCode accepts codes as people type them.
func userCode(text string) string {
	text = strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, text))
	if len(text) != 8 {
		return text
	}
	return text[:4] + "-" + text[4:]
}

// errNoPairing is the same for codes that are wrong, were answered, or have expired.
func errNoPairing() error { return problem.Missing("Code") }

// Pairing finds the program that waits with a code.
func (s *Service) Pairing(ctx context.Context, code string) (Pairing, error) {
	p, err := s.store.PendingPairing(ctx, userCode(code), store.Now())
	if errors.Is(err, store.ErrNotFound) {
		return Pairing{}, errNoPairing()
	}
	if err != nil {
		return Pairing{}, fmt.Errorf("find a pairing: %w", err)
	}
	return Pairing{UserCode: p.Code, Name: p.Name, IP: p.IP, CreatedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt}, nil
}

// ApprovePairing lets the program with a code have a key of the caller, in the caller's workspace. The error is that of Create if the
// key could not be made.
func (s *Service) ApprovePairing(ctx context.Context, p auth.Principal, code string, in Input) error {
	if _, err := in.row(store.Now(), s.longest()); err != nil {
		return err
	}
	text, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode a key: %w", err)
	}
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		err := answerPairing(ctx, tx, store.Pairing{
			Code: userCode(code), Status: PairingApproved, UserID: p.UserID, Workspace: p.Workspace.ID, Key: string(text),
		})
		if err != nil {
			return err
		}
		return s.mayHave(ctx, tx, p.UserID, p.Workspace.ID)
	})
}

// RefusePairing lets the program with a code have no key.
func (s *Service) RefusePairing(ctx context.Context, p auth.Principal, code string) error {
	return s.store.Tx(ctx, func(tx *store.Tx) error {
		return answerPairing(ctx, tx, store.Pairing{Code: userCode(code), Status: PairingRefused, UserID: p.UserID})
	})
}

func answerPairing(ctx context.Context, tx *store.Tx, p store.Pairing) error {
	waited, err := tx.AnswerPairing(ctx, p, store.Now())
	if err != nil {
		return fmt.Errorf("answer a pairing: %w", err)
	}
	if !waited {
		return errNoPairing()
	}
	return nil
}

// RedeemPairing returns the state of a program's pairing, and, once the user has approved it, a new key. The pairing ends with that.
func (s *Service) RedeemPairing(ctx context.Context, deviceCode string) (status, key string, row store.Key, err error) {
	hash := auth.Digest(deviceCode)
	waiting, err := s.store.PairingByHash(ctx, hash, store.Now())
	if errors.Is(err, store.ErrNotFound) {
		return "", "", row, errNoPairing()
	}
	if err != nil {
		return "", "", row, fmt.Errorf("find a pairing: %w", err)
	}
	if waiting.Status != PairingApproved {
		return waiting.Status, "", row, nil
	}
	var in Input
	if err := json.Unmarshal([]byte(waiting.Key), &in); err != nil {
		return "", "", row, fmt.Errorf("decode a key: %w", err)
	}
	if row, err = in.row(store.Now(), s.longest()); err != nil {
		return "", "", row, err
	}
	if key, err = s.secret(ctx, &row); err != nil {
		return "", "", row, err
	}
	row.ID, row.UserID = store.NewID(), waiting.UserID
	err = s.store.Tx(ctx, func(tx *store.Tx) error {
		was, err := tx.TakePairing(ctx, hash, store.Now())
		if err != nil {
			return fmt.Errorf("take a pairing: %w", err)
		}
		if !was {
			return errNoPairing()
		}
		return s.insertPaired(ctx, tx, waiting, &row)
	})
	if err != nil {
		return "", "", store.Key{}, err
	}
	return PairingApproved, key, row, nil
}

// insertPaired stores the key of a program, if the user may still have it.
func (s *Service) insertPaired(ctx context.Context, tx *store.Tx, p store.Pairing, row *store.Key) error {
	if err := s.mayHave(ctx, tx, p.UserID, p.Workspace); err != nil {
		return err
	}
	u, err := tx.UserByID(ctx, p.UserID)
	if err != nil {
		return auth.Missing("User", err)
	}
	m, err := tx.WorkspaceFor(ctx, p.UserID, p.Workspace)
	if err != nil {
		return auth.Missing("Workspace", err)
	}
	row.Workspace, row.WorkspaceID, row.Email = m.Num, m.ID, u.Email
	if err := tx.InsertKey(ctx, *row); err != nil {
		return fmt.Errorf("insert a key: %w", err)
	}
	return audit.Append(ctx, tx, audit.Entry{UserID: p.UserID, Action: "API_KEY_CREATED", EntityType: "api_key", EntityID: row.ID,
		Workspace: row.Workspace, New: logged(*row)})
}

// mayHave returns an error if the user can have no further key in a workspace: someone who is no active user, no member who manages
// keys, or has as many as permitted. It locks the user, so that concurrent calls count each other's keys.
func (s *Service) mayHave(ctx context.Context, tx *store.Tx, userID, workspaceID string) error {
	u, err := tx.LockUser(ctx, userID)
	if err != nil {
		return auth.Missing("User", err)
	}
	m, err := tx.WorkspaceFor(ctx, userID, workspaceID)
	if err != nil {
		return auth.Missing("Workspace", err)
	}
	if !u.Active || m.Role != store.RoleOwner && m.Role != store.RoleAdmin {
		return problem.New(problem.Forbidden, "Only administrators of the workspace can create API keys for it.")
	}
	return s.haveRoom(ctx, tx, userID)
}

// haveRoom returns a Conflict if the user has as many keys as permitted.
func (s *Service) haveRoom(ctx context.Context, tx *store.Tx, userID string) error {
	have, err := tx.Keys(ctx, userID)
	if err != nil {
		return fmt.Errorf("count keys: %w", err)
	}
	if len(have) >= s.cfg.PerUser {
		return problem.New(problem.Conflict, "You have %d API keys already, which is the limit; delete one first.", len(have))
	}
	return nil
}

// Revoke deletes the key with which the caller came. prefix, the first characters of that key, shows that this is meant.
func (s *Service) Revoke(ctx context.Context, p auth.Principal, prefix string) error {
	if p.KeyID == "" {
		return problem.Missing("API key")
	}
	k, err := s.Get(ctx, p, p.KeyID)
	if err != nil {
		return err
	}
	if k.Prefix != prefix {
		return problem.Missing("API key")
	}
	return s.Delete(ctx, p, p.KeyID, false)
}
