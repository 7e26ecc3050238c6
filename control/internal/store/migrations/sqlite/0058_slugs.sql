-- +goose Up
-- The destination gets the path behind the slug.
ALTER TABLE urls ADD COLUMN forward_path BOOLEAN NOT NULL DEFAULT FALSE;
-- The key in lower case (ASCII), for links of hosts that do not distinguish cases; NULL elsewhere. No two links can meet, also in races.
ALTER TABLE urls ADD COLUMN folded TEXT;
CREATE UNIQUE INDEX urls_folded ON urls (folded) WHERE folded IS NOT NULL;
-- The rules for slugs of a domain.
ALTER TABLE domains ADD COLUMN case_sensitive BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE domains ADD COLUMN extended_slugs BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE domains ADD COLUMN min_slug_length BIGINT NOT NULL DEFAULT 3;
-- The same for the host of BASE_URL. New links lock the row, so it is not one of system_settings, which may be missing. revision is that
-- of the last change of the row or of workspaces.hides_previews.
CREATE TABLE base_host (
	id              BIGINT  PRIMARY KEY CHECK (id = 1),
	case_sensitive  BOOLEAN NOT NULL,
	extended_slugs  BOOLEAN NOT NULL,
	min_slug_length BIGINT  NOT NULL,
	revision        BIGINT  NOT NULL
);
INSERT INTO base_host (id, case_sensitive, extended_slugs, min_slug_length, revision) VALUES (1, TRUE, FALSE, 3, 0);
-- Visitors of /slug+ do not see where links of the workspace lead.
ALTER TABLE workspaces ADD COLUMN hides_previews BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX suspended_slugs_folded ON suspended_slugs (lower(slug));
