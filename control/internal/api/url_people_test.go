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
	w.do("GET", "/api/urls/"+id, "", ann).want(200).shows("createdByName", "Bob B.", "createdByEmail", otherMail)
	w.do("GET", "/api/urls", "", ann).want(200).shows("data.0.createdByName", "Bob B.")
	w.do("DELETE", "/api/urls/"+id, "", bob).want(204)
	w.do("GET", "/api/urls?status=DELETED", "", ann).want(200).shows("data.0.deletedByName", "Bob B.", "data.0.deletedByEmail", otherMail)
	w.do("GET", "/api/urls?status=DELETED", "", bob).want(200).has("data.0", append([]string{"deletedAt", "purgeAt", "deletedBy"},
		urlNames...)...)
	w.do("GET", "/api/urls?status=DELETED", "", as(w.root)).want(200).
		shows("data.0.deletedByEmail", otherMail, "data.0.createdByEmail", otherMail)
}
