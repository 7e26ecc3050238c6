package api_test

import (
	"testing"
)

// The members of a team see who created and who deleted each other's links.
func TestTeams_see_who_created_and_deleted_links(t *testing.T) {
	w := small(t, teams)
	team := w.newTeam("Growth")
	w.join(team, w.bobID, "EDITOR")
	w.do("PUT", "/api/auth/me", `{"name":"Bob B."}`, as(w.bob)).want(200)
	ann, bob := both(as(w.ann), with("X-Workspace", team)), both(as(w.bob), with("X-Workspace", team))
	id := w.do("POST", "/api/urls", `{"originalUrl":"https://example.com"}`, bob).want(201).has("", urlNames...).str("id")
	if r := w.do("GET", "/api/urls/"+id, "", ann).want(200); r.at("createdByName") != "Bob B." || r.at("createdByEmail") != otherMail {
		t.Error(r.text)
	}
	if r := w.do("GET", "/api/urls", "", ann).want(200); r.at("data.0.createdByName") != "Bob B." {
		t.Error(r.text)
	}
	w.do("DELETE", "/api/urls/"+id, "", bob).want(204)
	if r := w.do("GET", "/api/urls?status=DELETED", "", ann).want(200); r.at("data.0.deletedByName") != "Bob B." || r.at("data.0.deletedByEmail") != otherMail {
		t.Error(r.text)
	}
	w.do("GET", "/api/urls?status=DELETED", "", bob).want(200).has("data.0", append([]string{"deletedAt", "purgeAt", "deletedBy"}, urlNames...)...)
	if r := w.do("GET", "/api/urls?status=DELETED", "", as(w.root)).want(200); r.at("data.0.deletedByEmail") != otherMail || r.at("data.0.createdByEmail") != otherMail {
		t.Error(r.text)
	}
}
