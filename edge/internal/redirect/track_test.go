package redirect_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shortline/shortline/edge/internal/redirect"
	"github.com/shortline/shortline/shared/click"
	"github.com/shortline/shortline/shared/conversion"
	"github.com/shortline/shortline/shared/link"
	"github.com/shortline/shortline/shared/snapshot"
	"github.com/shortline/shortline/shared/testing/testkit"
)

// trackedLinks are links whose destinations get a click id, and one that does not.
func trackedLinks() []link.Record {
	all := []link.Record{
		{Key: "plain", Destination: "https://shop.example/#f"},
		{Key: "named", Destination: "https://shop.example/?cid=old&a=1", ClickParameter: "cid"},
		{Key: "presets", Destination: "https://shop.example/", UTM: link.UTM{Source: "mail"}, Title: "a title"},
		{Key: "locked", Destination: "https://shop.example/", PasswordHash: secret()},
		{Key: "split", Destination: "https://shop.example/", ABTesting: true,
			Variants: []link.Variant{{ID: link.ID{1}, Target: "https://shop.example/b", Weight: 1}}},
		{Key: "home", Destination: "https://sho.rt/x"},
	}
	for i := range all {
		all[i].TrackConversions = true
	}
	return append(all, link.Record{Key: "untracked", Destination: "https://shop.example/?b"})
}

// clickKeys are the keys of click ids at a time.
func clickKeys(at time.Time) []conversion.Key {
	first, last := conversion.PeriodsAt(at, 90*24*time.Hour)
	return conversion.Derive([][]byte{[]byte("a secret of this test, which is long enough")}, first, last)
}

// tracking gives a handler a table of hosts with the keys of click ids, and with sources.
func tracking(t testing.TB, at time.Time, sources ...snapshot.ConversionSource) func(*redirect.Config, *redirect.Deps) {
	return func(_ *redirect.Config, d *redirect.Deps) {
		d.Hosts = newHosts(t)
		d.Hosts.Apply(&snapshot.Hosts{Full: true, Conversions: &snapshot.Conversions{Keys: clickKeys(at),
			Window: (90 * 24 * time.Hour).Milliseconds(), Sources: sources}})
	}
}

// idOf checks that a destination has one click id, which is that of a click, and returns the destination without it.
func (w *world) idOf(t *testing.T, location, parameter string, e click.Event) string {
	t.Helper()
	u, err := url.Parse(location)
	testkit.Must(t, err)
	ids := u.Query()[parameter]
	if len(ids) != 1 {
		t.Fatalf("%s has %d ids", location, len(ids))
	}
	keys, err := conversion.NewKeys(clickKeys(epoch))
	testkit.Must(t, err)
	got, v := keys.ParseID(ids[0])
	want := conversion.ClickID{Link: e.Link, Time: e.Time,
		Tag: conversion.TagOf(click.Lane{Edge: w.spool.Edge(), Epoch: w.spool.Epoch()}, e.Seq)}
	if v != conversion.Accepted || got != want {
		t.Errorf("%s: %v %+v, want %+v", location, v, got, want)
	}
	return strings.Replace(location, ids[0], "ID", 1)
}

func TestTrack_adds_the_id_of_the_click(t *testing.T) {
	t.Parallel()
	w := newWorld(t, trackedLinks(), tracking(t, epoch))
	seen := map[string]bool{}
	for _, c := range []struct{ target, parameter, want string }{
		{"/plain", "sl_click", "https://shop.example/?sl_click=ID#f"},
		{"/plain", "sl_click", "https://shop.example/?sl_click=ID#f"},
		{"/plain?x=1&sl_click=AAAA&sl_click", "sl_click", "https://shop.example/?sl_click=ID&x=1#f"},
		{"/named?utm_source=b", "cid", "https://shop.example/?cid=ID&a=1&utm_source=b"},
		{"/presets?utm_medium=m", "sl_click", "https://shop.example/?utm_source=mail&utm_medium=m&sl_click=ID"},
		{"/split", "sl_click", "https://shop.example/b?sl_click=ID"},
	} {
		location := w.get(c.target).Header.Get("Location")
		if got := w.idOf(t, location, c.parameter, w.clicks(1)[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.target, got, c.want)
		}
		if seen[location] {
			t.Errorf("%s came twice", location)
		}
		seen[location] = true
	}
	location := w.submit("/locked/verify?q=1", "correct horse").Header.Get("Location")
	if got := w.idOf(t, location, "sl_click", w.clicks(1)[0]); got != "https://shop.example/?sl_click=ID&q=1" {
		t.Errorf("after a password: %s", got)
	}
	if got := w.guess("locked", "correct horse").body; !strings.Contains(got, "https://shop.example/?sl_click=") {
		t.Errorf("after a password by JSON: %s", got)
	}
	w.clicks(1)
	for _, c := range []struct{ method, target, want string }{
		{http.MethodHead, "/plain", "https://shop.example/#f"},
		{http.MethodHead, "/presets?sl_click=1", "https://shop.example/?utm_source=mail&sl_click=1"},
	} {
		if got := w.ask(c.method, c.target, "").Header.Get("Location"); got != c.want {
			t.Errorf("%s %s: %s", c.method, c.target, got)
		}
	}
	w.clicks(0)
	if got := w.get("/untracked?sl_click=1").Header.Get("Location"); got != "https://shop.example/?b&sl_click=1" {
		t.Errorf("a link without tracking: %s", got)
	}
	if got := w.get("/home").StatusCode; got != http.StatusLoopDetected {
		t.Errorf("a loop: %d", got)
	}
	if n := w.handler.Stats().Untracked; n != 0 {
		t.Errorf("%d visits without an id", n)
	}
}

func TestTrack_redirects_without_keys(t *testing.T) {
	t.Parallel()
	for name, adjust := range map[string]func(*redirect.Config, *redirect.Deps){
		"no hosts":           func(*redirect.Config, *redirect.Deps) {},
		"hosts without keys": func(_ *redirect.Config, d *redirect.Deps) { d.Hosts = newHosts(t) },
		"other periods":      tracking(t, epoch.AddDate(2, 0, 0)),
	} {
		w := newWorld(t, trackedLinks(), adjust)
		if got := w.get("/presets?x=1").Header.Get("Location"); got != "https://shop.example/?utm_source=mail&x=1" {
			t.Errorf("%s: %s", name, got)
		}
		if got := w.submit("/locked/verify", "correct horse").Header.Get("Location"); got != "https://shop.example/" {
			t.Errorf("%s: %s", name, got)
		}
		w.clicks(2)
		if n := w.handler.Stats().Untracked; n != 2 {
			t.Errorf("%s: %d visits are counted", name, n)
		}
	}
}

// A click that is not in the spool has no id, because nothing could be attributed to it.
func TestTrack_redirects_when_the_spool_is_full(t *testing.T) {
	t.Parallel()
	w := newWorld(t, trackedLinks(), tracking(t, epoch))
	testkit.Must(t, w.spool.Close())
	if got := w.get("/plain"); got.Header.Get("Location") != "https://shop.example/#f" || got.StatusCode != http.StatusFound ||
		w.handler.Stats().Untracked != 1 {
		t.Errorf("%d %v", got.StatusCode, got.Header)
	}
}
