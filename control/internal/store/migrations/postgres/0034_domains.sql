-- +goose Up
-- Custom domains. Links on a domain have its number in the column slug; see ADR 18. Programs of the previous release do not
-- know the table.
CREATE TABLE domains (
	num            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id             TEXT    NOT NULL UNIQUE,
	workspace_num  BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	hostname       TEXT COLLATE "C" NOT NULL, -- in ASCII and lower case
	status         TEXT    NOT NULL, -- PENDING, ACTIVE, FAILED or SUSPENDED
	token          TEXT    NOT NULL, -- the value of the TXT record that proves control of the name
	root_url       TEXT,
	not_found_url  TEXT,
	expired_url    TEXT,
	hsts           BIGINT  NOT NULL, -- max-age in seconds; 0: no header
	apple_app_site TEXT, -- JSON for apps of iOS
	asset_links    TEXT, -- JSON for apps of Android
	is_default     BOOLEAN NOT NULL, -- the domain of new links of the workspace
	suspend_reason TEXT, -- why an administrator suspended the domain, for its owners
	proof_found    BOOLEAN NOT NULL, -- the TXT record was there at checked_at
	proof_message  TEXT    NOT NULL,
	route_found    BOOLEAN NOT NULL, -- the name led to us at checked_at
	route_message  TEXT    NOT NULL,
	checked_at     BIGINT  NOT NULL, -- 0: never
	proved_at      BIGINT  NOT NULL, -- when the TXT record was last there; 0: never
	revision       BIGINT  NOT NULL, -- of the last change that edges have to know
	created_at     BIGINT  NOT NULL,
	updated_at     BIGINT  NOT NULL
);
-- One workspace at a time holds a name. Others may prepare to take it over, but only with a domain that is not in service.
CREATE UNIQUE INDEX domains_holder ON domains (hostname) WHERE status IN ('ACTIVE', 'SUSPENDED');
CREATE UNIQUE INDEX domains_workspace ON domains (workspace_num, hostname);
CREATE UNIQUE INDEX domains_default ON domains (workspace_num) WHERE is_default;
CREATE INDEX domains_checked ON domains (checked_at);
CREATE INDEX domains_revision ON domains (revision);
-- Names that edges served once and must not serve any more. A name that is in service again is not here.
CREATE TABLE gone_hosts (
	hostname TEXT COLLATE "C" PRIMARY KEY,
	revision BIGINT  NOT NULL
);
CREATE INDEX gone_hosts_revision ON gone_hosts (revision);
-- The number in the keys of links on custom domains, for lists and joins.
ALTER TABLE urls ADD COLUMN domain_num BIGINT;
CREATE INDEX urls_domain ON urls (domain_num, workspace_num, num) WHERE domain_num IS NOT NULL;
