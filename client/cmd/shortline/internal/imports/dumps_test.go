package imports_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dumpFile writes a dump. A quotation mark ’ stands for a backtick, which Go texts cannot have.
func dumpFile(t *testing.T, text string) string {
	name := filepath.Join(t.TempDir(), "dump.sql")
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, "’", "`")), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestYOURLS_dump_of_MySQL(t *testing.T) {
	w := newWorld(t)
	name := dumpFile(t, `-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
/*!40101 SET NAMES utf8 */;
DROP TABLE IF EXISTS ’yourls_log’;
CREATE TABLE ’yourls_log’ (’click_id’ int NOT NULL AUTO_INCREMENT, ’referrer’ varchar(200) NOT NULL, PRIMARY KEY (’click_id’));
INSERT INTO ’yourls_log’ VALUES (1,'a;b'),(2,'it\'s');
CREATE TABLE ’yourls_url’ (
  ’keyword’ varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  ’url’ text NOT NULL,
  ’title’ text,
  ’timestamp’ timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ’ip’ varchar(41) NOT NULL,
  ’clicks’ int unsigned NOT NULL,
  PRIMARY KEY (’keyword’),
  KEY ’ip’ (’ip’)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
/*!40000 ALTER TABLE ’yourls_url’ DISABLE KEYS */;
INSERT INTO ’yourls_url’ VALUES ('one','https://example.com/?a=(1),b','It\'s \"one\"; -- really','2011-01-02 03:04:05','192.0.2.1',7),
('two','https://example.com/2',NULL,'0000-00-00 00:00:00','',0);
`)
	r := w.run("yourls", "--file", name, "--from", "https://y.example").want(t, 0, "created 2")
	w.fields("one", map[string]string{"originalUrl": "https://example.com/?a=(1),b", "title": `It's "one"; -- really`,
		"createdAt": "2011-01-02T03:04:05.000Z", "externalId": "yourls:y.example/one"})
	w.fields("two", map[string]string{"title": "<nil>", "createdAt": "<nil>"})
	if r.report.Rows[0].Clicks != 7 {
		t.Errorf("%+v", r.report.Rows[0])
	}
}

const kuttHash = "$2a$12$uqR6pEbb9Qz8hGEm9vHFQOpP9hJ4pAOz4bTEKkmJRXc5tq8qpyfzS"

func TestKutt_dump_of_PostgreSQL(t *testing.T) {
	w := newWorld(t)
	name := dumpFile(t, `--
-- PostgreSQL database dump
--
SET standard_conforming_strings = on;
CREATE TABLE public.links (
    id integer NOT NULL,
    address character varying(255) NOT NULL
);
COPY public.domains (id, address, banned) FROM stdin;
4	go.acme.example	f
\.

COPY public.links (id, address, banned, created_at, description, domain_id, expire_in, password, target, visit_count, uuid) FROM stdin;
1	plain	f	2020-01-01 10:00:00.5+00	a\tb\\n	4	2021-01-01 00:00:00+00	\N	https://example.com/plain	3	u-1
2	locked	f	2020-01-01 10:00:00+00	\N	\N	\N	`+kuttHash+`	https://example.com/locked	0	u-2
3	banned	t	2020-01-01 10:00:00+00	\N	\N	\N	\N	https://example.com/	0	u-3
\.

SELECT pg_catalog.setval('public.links_id_seq', 3, true);
`)
	r := w.run("kutt", "--file", name, "--from", "kutt.example").want(t, 1, "created 2 failed 1")
	w.fields("plain", map[string]string{"domain": "go.acme.example", "notes": "a\tb\\n", "createdAt": "2020-01-01T10:00:00.500Z",
		"expiresAt": "2021-01-01T00:00:00.000Z", "externalId": "kutt:u-1"})
	w.fields("locked", map[string]string{"passwordHash": kuttHash, "status": "<nil>"})
	if got := r.reason("kutt.example/banned"); !strings.HasPrefix(got, "failed: ") {
		t.Errorf("%q", got)
	}
}

func TestShlink_dump_of_SQLite(t *testing.T) {
	w := newWorld(t)
	name := dumpFile(t, `PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE domains (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, authority VARCHAR(255) NOT NULL);
INSERT INTO domains VALUES(1,'go.acme.example');
CREATE TABLE IF NOT EXISTS "tags" (id INTEGER NOT NULL, name VARCHAR(255) NOT NULL, PRIMARY KEY(id));
INSERT INTO tags VALUES(1,'news');
INSERT INTO tags VALUES(2,'a''b');
CREATE TABLE short_urls_in_tags (short_url_id BIGINT NOT NULL, tag_id BIGINT NOT NULL);
INSERT INTO short_urls_in_tags VALUES(7,1);
INSERT INTO short_urls_in_tags VALUES(7,2);
CREATE TABLE short_url_redirect_rules (id INTEGER, short_url_id BIGINT, priority INTEGER, long_url CLOB);
INSERT INTO short_url_redirect_rules VALUES(1,8,1,'https://example.com/a');
CREATE TABLE short_urls (id INTEGER PRIMARY KEY NOT NULL, original_url CLOB NOT NULL, short_code VARCHAR(255) NOT NULL, date_created DATETIME NOT NULL,
  valid_since DATETIME DEFAULT NULL, valid_until DATETIME DEFAULT NULL, max_visits INTEGER DEFAULT NULL, domain_id BIGINT DEFAULT NULL,
  title VARCHAR(512) DEFAULT NULL, CONSTRAINT FK_X FOREIGN KEY (domain_id) REFERENCES domains (id));
INSERT INTO short_urls VALUES(7,'https://example.com/7\n','seven','2019-05-05 01:02:03',NULL,NULL,5,1,'Seven');
INSERT INTO short_urls VALUES(8,'https://example.com/8','eight','2019-05-05 01:02:03',NULL,NULL,NULL,NULL,NULL);
COMMIT;
`)
	r := w.run("shlink", "--file", name, "--from", "old.example").want(t, 0, "created 2")
	w.fields("seven", map[string]string{"domain": "go.acme.example", "tags": "[news a'b]", "title": "Seven", "maxClicks": "5",
		"originalUrl": `https://example.com/7\n`, "createdAt": "2019-05-05T01:02:03.000Z"})
	if got := r.reason("old.example/eight"); got != "created: ; rules are imported only from the API" {
		t.Errorf("%q", got)
	}
	w.run("shlink", "--file", name, "--from", "old.example", "--verify", "0").want(t, 0, "unchanged 2")
	cut := dumpFile(t, `CREATE TABLE short_urls (id INTEGER, original_url CLOB); INSERT INTO short_urls VALUES(7,'https://exa`)
	endless := dumpFile(t, "COPY short_urls (id) FROM stdin;\n"+strings.Repeat("x", 17<<20))
	if r := w.run("shlink", "--file", endless); r.code != 1 || !strings.Contains(r.err, "a value that is too large") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	if r := w.run("shlink", "--file", cut); r.code != 1 || !strings.Contains(r.err, "is the file complete?") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}
