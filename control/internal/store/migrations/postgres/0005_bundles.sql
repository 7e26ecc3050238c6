-- +goose Up
CREATE TABLE bundles (
	num         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	user_id     TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name        TEXT    NOT NULL,
	description TEXT,
	color       TEXT    NOT NULL,
	icon        TEXT    NOT NULL,
	archived    BOOLEAN NOT NULL DEFAULT FALSE,
	search_text TEXT    NOT NULL, -- lower-case name and description, one per line
	created_at  BIGINT  NOT NULL,
	updated_at  BIGINT  NOT NULL
);
CREATE INDEX bundles_user_created ON bundles (user_id, created_at, num);
CREATE INDEX bundles_created ON bundles (created_at, num);

-- Links in bundles. Only the order of positions counts; gaps are allowed.
CREATE TABLE bundle_urls (
	bundle_id TEXT    NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
	url_id    TEXT    NOT NULL REFERENCES urls (id) ON DELETE CASCADE,
	position  INTEGER NOT NULL,
	PRIMARY KEY (bundle_id, url_id)
);
CREATE INDEX bundle_urls_url ON bundle_urls (url_id);
