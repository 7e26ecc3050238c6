-- +goose Up
CREATE TABLE urls (
	num                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id                  TEXT    NOT NULL UNIQUE,
	user_id             TEXT    NOT NULL REFERENCES users (id),
	slug                TEXT    COLLATE "C" NOT NULL UNIQUE,
	original_url        TEXT    NOT NULL,
	title               TEXT    COLLATE "C",
	password_hash       TEXT,
	expires_at          BIGINT,
	utm_source          TEXT    COLLATE "C",
	utm_medium          TEXT    COLLATE "C",
	utm_campaign        TEXT    COLLATE "C",
	utm_term            TEXT    COLLATE "C",
	utm_content         TEXT    COLLATE "C",
	utm_id              TEXT    COLLATE "C",
	utm_source_platform TEXT    COLLATE "C",
	active              BOOLEAN NOT NULL DEFAULT TRUE,
	ab_testing          BOOLEAN NOT NULL DEFAULT FALSE,
	smart_routing       BOOLEAN NOT NULL DEFAULT FALSE,
	default_url         TEXT,
	og_title            TEXT,
	og_description      TEXT,
	og_image            TEXT,
	twitter_card        TEXT,
	click_count         BIGINT  NOT NULL DEFAULT 0,
	search_text         TEXT    NOT NULL DEFAULT '', -- lower-case title, destination and slug, one per line
	revision            BIGINT  NOT NULL DEFAULT 0,
	created_at          BIGINT  NOT NULL,
	updated_at          BIGINT  NOT NULL
);
CREATE INDEX urls_user_created ON urls (user_id, created_at, num);
CREATE INDEX urls_user_updated ON urls (user_id, updated_at, num);
CREATE INDEX urls_user_clicks ON urls (user_id, click_count, num);
CREATE INDEX urls_user_title ON urls (user_id, title, num);
CREATE INDEX urls_user_expires ON urls (user_id, expires_at, num, active, click_count); -- also counts by state
CREATE INDEX urls_user_slug ON urls (user_id, slug, num);
-- The same orders over the links of all users, for administrators.
CREATE INDEX urls_created ON urls (created_at, num);
CREATE INDEX urls_updated ON urls (updated_at, num);
CREATE INDEX urls_clicks ON urls (click_count, num);
CREATE INDEX urls_title ON urls (title, num);
CREATE INDEX urls_expires ON urls (expires_at, num);
-- Without the extension, a search reads all links of the owner.
-- +goose StatementBegin
DO $$
BEGIN
	CREATE EXTENSION IF NOT EXISTS pg_trgm;
	CREATE INDEX urls_search ON urls USING gin (search_text gin_trgm_ops);
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE 'no trigram index for searching links: %', SQLERRM;
END $$;
-- +goose StatementEnd

CREATE TABLE variants (
	id          TEXT    PRIMARY KEY,
	url_id      TEXT    NOT NULL REFERENCES urls (id) ON DELETE CASCADE,
	name        TEXT    NOT NULL,
	target_url  TEXT    NOT NULL,
	weight      INTEGER NOT NULL,
	active      BOOLEAN NOT NULL DEFAULT TRUE,
	click_count BIGINT  NOT NULL DEFAULT 0,
	created_at  BIGINT  NOT NULL,
	updated_at  BIGINT  NOT NULL
);
CREATE INDEX variants_url ON variants (url_id, created_at);

CREATE TABLE routing_rules (
	id              TEXT    PRIMARY KEY,
	url_id          TEXT    NOT NULL REFERENCES urls (id) ON DELETE CASCADE,
	name            TEXT    NOT NULL,
	target_url      TEXT    NOT NULL,
	priority        INTEGER NOT NULL DEFAULT 0,
	active          BOOLEAN NOT NULL DEFAULT TRUE,
	conditions      TEXT    NOT NULL,
	match_count     BIGINT  NOT NULL DEFAULT 0,
	last_matched_at BIGINT,
	created_at      BIGINT  NOT NULL,
	updated_at      BIGINT  NOT NULL
);
CREATE INDEX routing_rules_url ON routing_rules (url_id, priority, created_at);

-- The log of link changes, which publishing reads. It keeps the number and slug of a deleted link.
CREATE TABLE link_changes (
	revision BIGINT NOT NULL,
	num      BIGINT NOT NULL,
	slug     TEXT   NOT NULL,
	was      BIGINT NOT NULL DEFAULT -1, -- previous revision of the link; 0: new link; -1: unknown
	PRIMARY KEY (revision, num)
);
