package ascode

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ownerTag is the tag of the links of an owner. A tag can be searched for, is shown in the console, and, unlike a prefix of externalId,
// leaves the identity of a link alone.
func ownerTag(owner string) string { return "managed-by:" + owner }

// ownerOf returns the owner that tags name, or "".
func ownerOf(tags []string) string {
	for _, one := range tags {
		if lower := strings.ToLower(one); strings.HasPrefix(lower, ownerTag("")) {
			return strings.TrimPrefix(lower, ownerTag(""))
		}
	}
	return ""
}

// stampForm is the last line of the notes of a link with an owner.
var stampForm = regexp.MustCompile(`(?:^|\n)\[as code: ([A-Za-z0-9_-]{16})\]$`)

// splitNotes returns notes without the stamp, and the stamp.
func splitNotes(notes string) (own, stamp string) {
	at := stampForm.FindStringSubmatchIndex(notes)
	if at == nil {
		return notes, ""
	}
	return strings.TrimSpace(notes[:at[0]]), notes[at[2]:at[3]]
}

// stamp is a digest of what the file says about a link, without the text of a password.
func (e *entry) stamp() (string, error) {
	raw, err := json.Marshal(e.given)
	if err != nil {
		return "", fmt.Errorf("%s: %w", e.at, err)
	}
	sum := sha256.Sum256(raw)
	return base64.RawURLEncoding.EncodeToString(sum[:12]), nil
}

// labelled returns the item with the label of the owner.
func (e *entry) labelled(owner string) (map[string]any, error) {
	if owner == "" {
		return e.item, nil
	}
	out := make(map[string]any, len(e.item))
	for name, v := range e.item {
		out[name] = v
	}
	tags, _ := e.item["tags"].([]string)
	out["tags"] = append(append(make([]string, 0, len(tags)+1), tags...), ownerTag(owner))
	stamp, err := e.stamp()
	if err != nil {
		return nil, err
	}
	line := "[as code: " + stamp + "]"
	if notes := text1(e.item["notes"]); notes != "" {
		line = notes + "\n" + line
	}
	out["notes"] = line
	return out, nil
}

// passwordFrom is what the digest has of a password: that there is one.
const passwordFrom = "passwordFrom"

// secrets finds what a file refers to.
type secrets struct{ getenv func(string) string }

// password reads where a link's password is kept: in an environment variable or in a file, never in the YAML itself. The password is sent
// to the server and appears in no output. null removes the password of the link.
func (r *reader) password(e *entry, n *yaml.Node, s *secrets) {
	if isNull(n) {
		e.given["password"] = nil
		return
	}
	if n.Kind == yaml.ScalarNode {
		r.reject(n, "a password does not belong in a file; write password: {env: NAME} or password: {file: PATH}")
		return
	}
	r.members(n, "password", []string{"env", "file"}, func(key string, value *yaml.Node) {
		name := r.scalar(value, key)
		secret := ""
		if key == "env" {
			if secret = s.getenv(name); secret == "" {
				r.reject(value, "the environment has no %s", name)
			}
		} else {
			if !filepath.IsAbs(name) {
				name = filepath.Join(filepath.Dir(r.file), name)
			}
			content, err := os.ReadFile(name)
			if secret = strings.TrimRight(string(content), "\r\n"); err != nil {
				r.reject(value, "%w", err)
			} else if secret == "" {
				r.reject(value, "%s is empty", name)
			}
		}
		e.item["password"], e.password = secret, true
		e.given[passwordFrom] = key
	})
}
