-- +goose Up
-- The schema of the first release, in the order of the wings of the store: the service, people, links, hosts, clicks, edges and
-- webhooks. It has the number of the last of the migrations that it replaces, so a database that had all of them needs none. Columns
-- at the end of a table have the order in which these migrations added them.

-- ========== The service

-- The oldest schema whose programs work with this schema. A migration that only adds keeps the number. A migration that breaks older
-- programs raises it to its own number.
CREATE TABLE schema_support (
	id     INTEGER PRIMARY KEY CHECK (id = 1),
	oldest BIGINT  NOT NULL
);
INSERT INTO schema_support (id, oldest) VALUES (1, 10);

-- The newest revision of the log of link changes. The incarnation is a random number, from which edges see that a log is another
-- one.
CREATE TABLE config_head (
	id          INTEGER PRIMARY KEY CHECK (id = 1),
	incarnation BIGINT  NOT NULL,
	revision    BIGINT  NOT NULL
);

CREATE TABLE system_settings (
	id          TEXT   PRIMARY KEY,
	key         TEXT   NOT NULL UNIQUE,
	value       TEXT   NOT NULL,
	description TEXT,
	created_at  BIGINT NOT NULL,
	updated_at  BIGINT NOT NULL
);

-- Failed attempts at a password or a code, by target and client.
CREATE TABLE attempt_guards (
	key          TEXT    PRIMARY KEY,
	failures     INTEGER NOT NULL,
	locks        INTEGER NOT NULL,
	locked_until BIGINT  NOT NULL,
	forget_at    BIGINT  NOT NULL
);
CREATE INDEX attempt_guards_forget ON attempt_guards (forget_at);

-- Requests of each client in its current window. These rows may be lost in a crash.
CREATE UNLOGGED TABLE rate_counts (
	key     TEXT    PRIMARY KEY,
	count   INTEGER NOT NULL,
	ends_at BIGINT  NOT NULL
);
CREATE INDEX rate_counts_end ON rate_counts (ends_at);

-- ========== People

CREATE TABLE users (
	num            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id             TEXT    NOT NULL UNIQUE,
	email          TEXT    NOT NULL,
	email_key      TEXT    NOT NULL UNIQUE,
	name           TEXT    NOT NULL DEFAULT '',
	role           TEXT    NOT NULL CHECK (role IN ('ADMIN', 'USER')),
	active         BOOLEAN NOT NULL DEFAULT TRUE,
	password_hash  TEXT,
	token_version  BIGINT  NOT NULL DEFAULT 0,
	totp_secret    TEXT,
	totp_enabled   BOOLEAN NOT NULL DEFAULT FALSE,
	totp_last_step BIGINT  NOT NULL DEFAULT 0,
	created_at     BIGINT  NOT NULL,
	updated_at     BIGINT  NOT NULL,
	-- FALSE: nobody has proven that the address belongs to the user. Identity providers do not link such accounts by it.
	email_verified BOOLEAN NOT NULL DEFAULT TRUE,
	made_by_key    TEXT
);
CREATE INDEX users_created ON users (created_at, num);
-- Every user gets a personal workspace.
-- +goose StatementBegin
CREATE FUNCTION users_make_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO workspaces (num, id, name, slug, personal_of, created_at, updated_at)
	VALUES (NEW.num, NEW.id, 'Personal', 'u-' || replace(NEW.id, '-', ''), NEW.id, NEW.created_at, NEW.created_at);
	INSERT INTO workspace_members (workspace_num, user_id, role, created_at) VALUES (NEW.num, NEW.id, 'OWNER', NEW.created_at);
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER users_workspace AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION users_make_workspace();
CREATE INDEX users_made_by_key ON users (made_by_key) WHERE made_by_key IS NOT NULL;

CREATE TABLE recovery_codes (
	user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	hash    TEXT NOT NULL,
	PRIMARY KEY (user_id, hash)
);

CREATE TABLE sessions (
	id            TEXT    PRIMARY KEY,
	user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	created_at    BIGINT  NOT NULL,
	expires_at    BIGINT  NOT NULL,
	last_seen_at  BIGINT, -- NULL: not since created_at
	ip            TEXT,
	user_agent    TEXT,
	second_factor BOOLEAN NOT NULL DEFAULT FALSE -- whether the sign-in used one
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- The devices from which a user has signed in. A sign-in from another device is reported to the user.
CREATE TABLE known_devices (
	user_id      TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	device       TEXT   NOT NULL, -- SHA-256 of browser, operating system and network
	last_seen_at BIGINT NOT NULL,
	PRIMARY KEY (user_id, device)
);
CREATE INDEX known_devices_seen ON known_devices (last_seen_at);

-- Requests for a new password that are not used yet.
CREATE TABLE password_resets (
	hash       TEXT   PRIMARY KEY, -- SHA-256 of the token
	user_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	expires_at BIGINT NOT NULL
);
CREATE INDEX password_resets_user ON password_resets (user_id);
CREATE INDEX password_resets_expiry ON password_resets (expires_at);

-- Texts of bytes are base64url without padding, so that both databases compare them in the same way.
CREATE TABLE passkeys (
	id              TEXT    PRIMARY KEY,
	user_id         TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	credential_id   TEXT    NOT NULL UNIQUE, -- chosen by the authenticator, at most 1,023 bytes
	public_key      TEXT    NOT NULL,        -- COSE
	sign_count      BIGINT  NOT NULL,        -- of the newest accepted signature; 0 for authenticators that do not count
	aaguid          TEXT    NOT NULL,        -- model of the authenticator; '': not told
	transports      TEXT    NOT NULL,        -- separated by spaces
	backup_eligible BOOLEAN NOT NULL,
	backed_up       BOOLEAN NOT NULL,
	name            TEXT    NOT NULL,
	created_at      BIGINT  NOT NULL,
	last_used_at    BIGINT,
	cloned_at       BIGINT                   -- newest refusal because the counter did not increase
);
CREATE INDEX passkeys_user ON passkeys (user_id, created_at);

-- Registrations and sign-ins in progress. A row is deleted when its challenge comes back, at whichever replica, so a challenge works
-- once.
CREATE TABLE passkey_ceremonies (
	challenge  TEXT   PRIMARY KEY, -- SHA-256, so that a copy of the database cannot finish a ceremony
	user_id    TEXT   REFERENCES users (id) ON DELETE CASCADE, -- NULL: a sign-in
	session_id TEXT,               -- of the registration's begin; NULL: a sign-in
	expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_ceremonies_user ON passkey_ceremonies (user_id);
CREATE INDEX passkey_ceremonies_expiry ON passkey_ceremonies (expires_at);

CREATE TABLE oidc_providers (
	id            TEXT    PRIMARY KEY,
	slug          TEXT    NOT NULL UNIQUE,
	name          TEXT    NOT NULL,
	discovery_url TEXT    NOT NULL,
	client_id     TEXT    NOT NULL,
	client_secret TEXT    NOT NULL, -- encrypted
	scopes        TEXT    NOT NULL,
	active        BOOLEAN NOT NULL,
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL,
	-- Email domains that a provider may vouch for, separated by spaces; '': any.
	email_domains TEXT    NOT NULL DEFAULT ''
);

-- Links identities at a provider to users. The issuer is part of an identity. If a provider is changed to another issuer later,
-- equal subjects of the new issuer are different identities.
CREATE TABLE oidc_accounts (
	id            TEXT   PRIMARY KEY,
	provider_id   TEXT   NOT NULL REFERENCES oidc_providers (id) ON DELETE CASCADE,
	user_id       TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	issuer        TEXT   NOT NULL,
	subject       TEXT   NOT NULL,
	email         TEXT   NOT NULL,
	created_at    BIGINT NOT NULL,
	last_login_at BIGINT NOT NULL,
	UNIQUE (provider_id, issuer, subject)
);
CREATE INDEX oidc_accounts_user ON oidc_accounts (user_id, created_at);

-- Links, bundles, webhooks and API keys belong to a workspace. A personal workspace has the number and the id of its user. The
-- numbers of other workspaces come from the sequence of users.num.
CREATE TABLE workspaces (
	num             BIGINT PRIMARY KEY,
	id              TEXT   NOT NULL UNIQUE,
	name            TEXT   NOT NULL,
	slug            TEXT   COLLATE "C" NOT NULL UNIQUE,
	personal_of     TEXT   UNIQUE REFERENCES users (id) ON DELETE CASCADE, -- NULL: a workspace for a team
	created_at      BIGINT NOT NULL,
	updated_at      BIGINT NOT NULL,
	click_parameter TEXT -- name of the query parameter with the click id; NULL: sl_click
);

CREATE TABLE workspace_members (
	workspace_num BIGINT NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	user_id       TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	role          TEXT   NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'EDITOR', 'VIEWER')),
	created_at    BIGINT NOT NULL,
	PRIMARY KEY (workspace_num, user_id)
);
CREATE INDEX workspace_members_user ON workspace_members (user_id);

-- Invitations to workspaces. Rows stay for a while after they were accepted or revoked, so that their links can say why they do not
-- work.
CREATE TABLE invitations (
	id            TEXT   PRIMARY KEY,
	workspace_num BIGINT NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	email         TEXT   NOT NULL,
	email_key     TEXT   NOT NULL,
	role          TEXT   NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'EDITOR', 'VIEWER')),
	invited_by    TEXT   REFERENCES users (id) ON DELETE SET NULL,
	shown_hash    TEXT   NOT NULL UNIQUE, -- SHA-256 of the token in the link that is shown to copy
	mailed_hash   TEXT   UNIQUE,          -- of another token in the link that was sent by e-mail; NULL: none was
	state         TEXT   NOT NULL CHECK (state IN ('PENDING', 'ACCEPTED', 'REVOKED')),
	created_at    BIGINT NOT NULL,
	expires_at    BIGINT NOT NULL,
	made_by_key   TEXT
);
CREATE INDEX invitations_workspace ON invitations (workspace_num, created_at);
CREATE INDEX invitations_inviter ON invitations (invited_by);
CREATE INDEX invitations_expires ON invitations (expires_at);
CREATE INDEX invitations_made_by_key ON invitations (made_by_key) WHERE made_by_key IS NOT NULL;
CREATE INDEX invitations_email ON invitations (email_key, created_at);

CREATE TABLE api_keys (
	id            TEXT    PRIMARY KEY,
	user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name          TEXT    NOT NULL,
	prefix        TEXT    NOT NULL,
	lookup        TEXT    NOT NULL UNIQUE,
	hash          TEXT    NOT NULL,
	expires_at    BIGINT,
	last_used_at  BIGINT,
	created_at    BIGINT  NOT NULL,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	scopes        TEXT    NOT NULL DEFAULT '', -- names, separated by spaces; '': no limit
	allowed_ips   TEXT    NOT NULL DEFAULT '', -- networks, separated by spaces; '': no limit
	last_used_ip  TEXT    NOT NULL DEFAULT '',
	checksummed   BOOLEAN NOT NULL DEFAULT FALSE, -- FALSE: the key has no checksum
	-- The API key with which something was made; NULL: made in a session. The key may be deleted.
	made_by_key   TEXT
);
CREATE INDEX api_keys_user ON api_keys (user_id, created_at);
-- A row without a workspace belongs to the personal one of its user.
-- +goose StatementBegin
CREATE FUNCTION choose_personal_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.workspace_num := (SELECT num FROM users WHERE id = NEW.user_id);
	RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER api_keys_workspace BEFORE INSERT ON api_keys FOR EACH ROW WHEN (NEW.workspace_num IS NULL) EXECUTE FUNCTION choose_personal_workspace();
CREATE INDEX api_keys_workspace ON api_keys (workspace_num, created_at);
CREATE INDEX api_keys_made_by_key ON api_keys (made_by_key) WHERE made_by_key IS NOT NULL;

-- Saved views of the console's lists and reports.
CREATE TABLE saved_views (
	num           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	screen        TEXT    NOT NULL, -- links or analytics
	name          TEXT    NOT NULL,
	name_key      TEXT    COLLATE "C" NOT NULL, -- lower-case name
	query         TEXT    NOT NULL, -- of the console's address, without the question mark
	shared        BOOLEAN NOT NULL,
	position      BIGINT  NOT NULL,
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL,
	UNIQUE (workspace_num, user_id, screen, name_key)
);
CREATE INDEX saved_views_user ON saved_views (user_id);

-- E-mails that wait to be sent. Claiming a row moves due_at to the end of the lease.
CREATE TABLE mail_outbox (
	id         TEXT    PRIMARY KEY, -- also the Message-ID, so repeats can be recognised
	recipient  TEXT    NOT NULL,    -- address
	kind       TEXT    NOT NULL,
	content    TEXT    NOT NULL,    -- encrypted, because it holds links that work once
	attempts   INTEGER NOT NULL DEFAULT 0,
	due_at     BIGINT  NOT NULL,
	lease      TEXT    NOT NULL DEFAULT '',
	last_error TEXT    NOT NULL DEFAULT '',
	created_at BIGINT  NOT NULL,
	expires_at BIGINT  NOT NULL     -- from then on the e-mail is useless
);
CREATE INDEX mail_outbox_due ON mail_outbox (due_at);
CREATE INDEX mail_outbox_created ON mail_outbox (created_at);

CREATE TABLE audit_logs (
	seq           BIGINT PRIMARY KEY,
	id            TEXT   NOT NULL UNIQUE,
	user_id       TEXT,
	action        TEXT   NOT NULL,
	entity_type   TEXT   NOT NULL,
	entity_id     TEXT,
	old_value     TEXT,
	new_value     TEXT,
	ip_address    TEXT,
	user_agent    TEXT,
	metadata      TEXT   NOT NULL,
	created_at    BIGINT NOT NULL,
	hash          TEXT   NOT NULL,
	-- HMAC over the row's hash, and thereby over the chain up to the row. NULL: written by a program without a key.
	mac           TEXT,
	-- NULL: of no workspace, so only administrators see the row.
	workspace_num BIGINT
);
CREATE INDEX audit_logs_created ON audit_logs (created_at, seq);
CREATE INDEX audit_logs_user ON audit_logs (user_id, created_at);
CREATE INDEX audit_logs_entity ON audit_logs (entity_type, entity_id, created_at);
-- +goose StatementBegin
CREATE FUNCTION audit_logs_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'audit_logs is append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_logs_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_logs
	FOR EACH STATEMENT EXECUTE FUNCTION audit_logs_refuse();
CREATE INDEX audit_logs_workspace ON audit_logs (workspace_num, created_at, seq);
CREATE INDEX audit_logs_action ON audit_logs (action, created_at, seq);
CREATE INDEX audit_logs_type ON audit_logs (entity_type, created_at, seq);
CREATE INDEX audit_logs_by_user ON audit_logs (user_id, seq);
CREATE INDEX audit_logs_by_entity ON audit_logs (entity_id, created_at, seq);

-- Counts of failures that anybody can cause; see audit.AppendCounted. A row is deleted when its count has been written to the audit
-- log.
CREATE TABLE audit_counts (
	key         TEXT   PRIMARY KEY, -- action and bucket
	action      TEXT   NOT NULL,
	entity_type TEXT   NOT NULL,
	count       BIGINT NOT NULL, -- in this window, including failures with an audit row
	first_at    BIGINT NOT NULL, -- first failure without an audit row; 0: none yet
	last_at     BIGINT NOT NULL,
	address     TEXT   NOT NULL, -- of the latest failure
	latest      TEXT   NOT NULL, -- metadata of the latest failure, JSON
	ends_at     BIGINT NOT NULL
);
CREATE INDEX audit_counts_end ON audit_counts (ends_at);

-- ========== Links

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
	updated_at          BIGINT  NOT NULL,
	notes               TEXT,
	workspace_num       BIGINT  NOT NULL REFERENCES workspaces (num),
	starts_at           BIGINT,
	expired_url         TEXT,
	redirect_code       INTEGER, -- NULL: 302
	max_clicks          BIGINT,
	limit_since         BIGINT, -- when max_clicks was set on a link without a limit
	limit_base          BIGINT, -- clicks that were counted before limit_since
	exhausted_at        BIGINT, -- when the clicks of all edges reached the limit
	external_id         TEXT    COLLATE "C",
	suspended_at        BIGINT,
	suspended_reason    TEXT,
	-- The number in the keys of links on custom domains, for lists and joins.
	domain_num          BIGINT,
	-- Conversions and experiments.
	track_conversions   BOOLEAN NOT NULL DEFAULT FALSE,
	stickiness          BIGINT  NOT NULL DEFAULT 0 -- link.Stickiness
);
-- The same orders over the links of all users, for administrators.
CREATE INDEX urls_created ON urls (created_at, num);
CREATE INDEX urls_updated ON urls (updated_at, num);
CREATE INDEX urls_clicks ON urls (click_count, num);
CREATE INDEX urls_title ON urls (title, num);
CREATE TRIGGER urls_workspace BEFORE INSERT ON urls FOR EACH ROW WHEN (NEW.workspace_num IS NULL) EXECUTE FUNCTION choose_personal_workspace();
CREATE INDEX urls_workspace_created ON urls (workspace_num, created_at, num);
CREATE INDEX urls_workspace_updated ON urls (workspace_num, updated_at, num);
CREATE INDEX urls_workspace_clicks ON urls (workspace_num, click_count, num);
CREATE INDEX urls_workspace_title ON urls (workspace_num, title, num);
CREATE INDEX urls_workspace_slug ON urls (workspace_num, slug, num);
CREATE UNIQUE INDEX urls_external_id ON urls (workspace_num, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX urls_creator ON urls (user_id, workspace_num, num);
CREATE INDEX urls_campaign ON urls (utm_campaign, workspace_num, num) WHERE utm_campaign IS NOT NULL;
CREATE INDEX urls_inactive ON urls (workspace_num, num, expires_at, exhausted_at, suspended_at) WHERE NOT active;
CREATE INDEX urls_scheduled ON urls (workspace_num, starts_at, num) WHERE starts_at IS NOT NULL;
CREATE INDEX urls_exhausted ON urls (workspace_num, num) WHERE exhausted_at IS NOT NULL;
CREATE INDEX urls_suspended ON urls (workspace_num, num) WHERE suspended_at IS NOT NULL;
CREATE INDEX urls_workspace_expires ON urls (workspace_num, expires_at, num, suspended_at);
CREATE INDEX urls_expires ON urls (expires_at, num, suspended_at);
CREATE INDEX urls_domain ON urls (domain_num, workspace_num, num) WHERE domain_num IS NOT NULL;
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

-- States of links before their changes.
CREATE TABLE link_history (
	link_num BIGINT NOT NULL,
	nth      BIGINT NOT NULL, -- counts the changes of the link
	revision BIGINT NOT NULL, -- of the change
	was      BIGINT NOT NULL, -- revision of the link before the change
	at       BIGINT NOT NULL,
	user_id  TEXT,            -- NULL: the system
	action   TEXT   NOT NULL,
	bytes    BIGINT NOT NULL, -- size of this document and of all older ones of the link
	document TEXT   NOT NULL, -- state before the change: link, rules and variants
	PRIMARY KEY (link_num, nth)
);

-- Deleted links, until they are restored or deleted for good. A workspace may be deleted before its links in the trash.
CREATE TABLE link_trash (
	num           BIGINT PRIMARY KEY,
	id            TEXT   NOT NULL UNIQUE,
	workspace_num BIGINT NOT NULL,
	slug          TEXT   COLLATE "C" NOT NULL,
	title         TEXT   COLLATE "C",
	expires_at    BIGINT,
	click_count   BIGINT NOT NULL,
	created_at    BIGINT NOT NULL,
	updated_at    BIGINT NOT NULL,
	search_text   TEXT   NOT NULL,
	deleted_at    BIGINT NOT NULL,
	deleted_by    TEXT,
	document      TEXT   NOT NULL -- link, rules, variants, positions in bundles
);
CREATE INDEX link_trash_workspace ON link_trash (workspace_num, deleted_at, num);
CREATE INDEX link_trash_deleted ON link_trash (deleted_at, num);

-- Moves of links between workspaces. A click contains the workspace that owned its link when it happened; reports apply these moves,
-- so that a link's clicks follow it. Rows are never changed or deleted: the clicks of a deleted link stay in the totals of its last
-- workspace.
CREATE TABLE link_moves (
	revision BIGINT NOT NULL, -- of the transaction in the log of link changes
	link_num BIGINT NOT NULL,
	from_num BIGINT NOT NULL, -- numbers of workspaces
	to_num   BIGINT NOT NULL,
	PRIMARY KEY (revision, link_num)
);

-- The newest move from or to each workspace. Workspace 0 stands for all.
CREATE TABLE workspace_moves (
	workspace_num BIGINT PRIMARY KEY,
	revision      BIGINT NOT NULL
);

CREATE TABLE bundles (
	num           BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id            TEXT    NOT NULL UNIQUE,
	user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name          TEXT    NOT NULL,
	description   TEXT,
	color         TEXT    NOT NULL,
	icon          TEXT    NOT NULL,
	archived      BOOLEAN NOT NULL DEFAULT FALSE,
	search_text   TEXT    NOT NULL, -- lower-case name and description, one per line
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE
);
CREATE INDEX bundles_user_created ON bundles (user_id, created_at, num);
CREATE INDEX bundles_created ON bundles (created_at, num);
CREATE TRIGGER bundles_workspace BEFORE INSERT ON bundles FOR EACH ROW WHEN (NEW.workspace_num IS NULL) EXECUTE FUNCTION choose_personal_workspace();
CREATE INDEX bundles_workspace_created ON bundles (workspace_num, created_at, num);

-- Links in bundles. Only the order of positions counts; gaps are allowed.
CREATE TABLE bundle_urls (
	bundle_id TEXT    NOT NULL REFERENCES bundles (id) ON DELETE CASCADE,
	url_id    TEXT    NOT NULL REFERENCES urls (id) ON DELETE CASCADE,
	position  INTEGER NOT NULL,
	PRIMARY KEY (bundle_id, url_id)
);
CREATE INDEX bundle_urls_url ON bundle_urls (url_id);

-- Tags of links. The trigger urls_leave_tags takes the tags from links that move to another workspace.
CREATE TABLE tags (
	num           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id            TEXT   NOT NULL UNIQUE,
	workspace_num BIGINT NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	name          TEXT   NOT NULL,
	name_key      TEXT   COLLATE "C" NOT NULL, -- lower-case name
	color         TEXT   NOT NULL,
	created_at    BIGINT NOT NULL,
	updated_at    BIGINT NOT NULL,
	UNIQUE (workspace_num, name_key)
);

CREATE TABLE url_tags (
	tag_num BIGINT NOT NULL REFERENCES tags (num) ON DELETE CASCADE,
	url_num BIGINT NOT NULL REFERENCES urls (num) ON DELETE CASCADE,
	PRIMARY KEY (tag_num, url_num)
);
CREATE INDEX url_tags_url ON url_tags (url_num, tag_num);
-- +goose StatementBegin
CREATE FUNCTION urls_leave_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM url_tags WHERE url_num = NEW.num;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_leave_tags AFTER UPDATE OF workspace_num ON urls FOR EACH ROW
	WHEN (OLD.workspace_num <> NEW.workspace_num) EXECUTE FUNCTION urls_leave_tags();

-- Templates of campaign fields.
CREATE TABLE utm_templates (
	num                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id                  TEXT   NOT NULL UNIQUE,
	workspace_num       BIGINT NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	name                TEXT   NOT NULL,
	name_key            TEXT   COLLATE "C" NOT NULL, -- lower-case name
	utm_source          TEXT,
	utm_medium          TEXT,
	utm_campaign        TEXT,
	utm_term            TEXT,
	utm_content         TEXT,
	utm_id              TEXT,
	utm_source_platform TEXT,
	created_at          BIGINT NOT NULL,
	updated_at          BIGINT NOT NULL,
	UNIQUE (workspace_num, name_key)
);

-- Links by state and by the hours in which they expire and start; -1 stands for never. Every statement adds rows with the
-- differences that it makes, so that writers never wait for each other. The sum of the rows with one key counts; programs replace
-- such rows by their sum from time to time.
CREATE TABLE link_counts (
	workspace_num BIGINT   NOT NULL,
	state         SMALLINT NOT NULL, -- 0: active, 1: inactive, 2: exhausted, 3: suspended
	expires_hour  BIGINT   NOT NULL, -- hours since 1970
	starts_hour   BIGINT   NOT NULL,
	links         BIGINT   NOT NULL,
	clicks        BIGINT   NOT NULL
);
CREATE INDEX link_counts_workspace ON link_counts (workspace_num);

-- Values of the campaign fields, and the number of links that have each, in the same manner.
CREATE TABLE utm_values (
	field         TEXT   COLLATE "C" NOT NULL, -- a column of urls
	workspace_num BIGINT NOT NULL,
	value         TEXT   COLLATE "C" NOT NULL,
	links         BIGINT NOT NULL
);
CREATE INDEX utm_values_field ON utm_values (field, workspace_num);
-- +goose StatementBegin
CREATE FUNCTION urls_count_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
	SELECT workspace_num, CASE WHEN suspended_at IS NOT NULL THEN 3 WHEN exhausted_at IS NOT NULL THEN 2 WHEN NOT active THEN 1 ELSE 0 END, coalesce(expires_at / 3600000, -1), coalesce(starts_at / 3600000, -1), count(*), sum(click_count)
	FROM made GROUP BY 1, 2, 3, 4;
	INSERT INTO utm_values (field, workspace_num, value, links)
	SELECT v.field, workspace_num, v.value, count(*)
	FROM made, LATERAL (VALUES ('utm_source', utm_source), ('utm_medium', utm_medium), ('utm_campaign', utm_campaign), ('utm_term', utm_term), ('utm_content', utm_content), ('utm_id', utm_id), ('utm_source_platform', utm_source_platform)) AS v (field, value) WHERE v.value IS NOT NULL GROUP BY 1, 2, 3;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_count_insert AFTER INSERT ON urls REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION urls_count_insert();
-- +goose StatementBegin
CREATE FUNCTION urls_count_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
	SELECT workspace_num, CASE WHEN suspended_at IS NOT NULL THEN 3 WHEN exhausted_at IS NOT NULL THEN 2 WHEN NOT active THEN 1 ELSE 0 END, coalesce(expires_at / 3600000, -1), coalesce(starts_at / 3600000, -1), -count(*), -sum(click_count)
	FROM gone GROUP BY 1, 2, 3, 4;
	INSERT INTO utm_values (field, workspace_num, value, links)
	SELECT v.field, workspace_num, v.value, -count(*)
	FROM gone, LATERAL (VALUES ('utm_source', utm_source), ('utm_medium', utm_medium), ('utm_campaign', utm_campaign), ('utm_term', utm_term), ('utm_content', utm_content), ('utm_id', utm_id), ('utm_source_platform', utm_source_platform)) AS v (field, value) WHERE v.value IS NOT NULL GROUP BY 1, 2, 3;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_count_delete AFTER DELETE ON urls REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION urls_count_delete();
-- +goose StatementBegin
CREATE FUNCTION urls_count_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM gone JOIN made USING (num) WHERE (gone.workspace_num, gone.active, gone.expires_at, gone.starts_at, gone.exhausted_at, gone.suspended_at, gone.click_count)
		IS DISTINCT FROM (made.workspace_num, made.active, made.expires_at, made.starts_at, made.exhausted_at, made.suspended_at, made.click_count)) THEN
		INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
		SELECT workspace_num, CASE WHEN suspended_at IS NOT NULL THEN 3 WHEN exhausted_at IS NOT NULL THEN 2 WHEN NOT active THEN 1 ELSE 0 END, coalesce(expires_at / 3600000, -1), coalesce(starts_at / 3600000, -1), sum(n), sum(n * click_count)
		FROM (SELECT workspace_num, active, expires_at, starts_at, exhausted_at, suspended_at, click_count, 1 AS n FROM made UNION ALL SELECT workspace_num, active, expires_at, starts_at, exhausted_at, suspended_at, click_count, -1 FROM gone) AS both_sides
		GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0 OR sum(n * click_count) <> 0;
	END IF;
	IF EXISTS (SELECT FROM gone JOIN made USING (num) WHERE (gone.workspace_num, gone.utm_source, gone.utm_medium, gone.utm_campaign, gone.utm_term, gone.utm_content, gone.utm_id, gone.utm_source_platform)
		IS DISTINCT FROM (made.workspace_num, made.utm_source, made.utm_medium, made.utm_campaign, made.utm_term, made.utm_content, made.utm_id, made.utm_source_platform)) THEN
		INSERT INTO utm_values (field, workspace_num, value, links)
		SELECT v.field, workspace_num, v.value, sum(n)
		FROM (SELECT workspace_num, utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform, 1 AS n FROM made UNION ALL SELECT workspace_num, utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform, -1 FROM gone) AS both_sides, LATERAL (VALUES ('utm_source', utm_source), ('utm_medium', utm_medium), ('utm_campaign', utm_campaign), ('utm_term', utm_term), ('utm_content', utm_content), ('utm_id', utm_id), ('utm_source_platform', utm_source_platform)) AS v (field, value)
		WHERE v.value IS NOT NULL GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_count_update AFTER UPDATE ON urls REFERENCING OLD TABLE AS gone NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION urls_count_update();

-- The journal of links that lists show or sort differently than before. Control planes keep the columns of lists in memory and read
-- the journal to apply changes. Triggers write it, so that no statement is forgotten. Transactions commit in any order. So an entry
-- has the number of its transaction, and readers start from the oldest transaction that was running when they last read. Programs
-- delete entries after some minutes.
CREATE TABLE link_journal (
	xid BIGINT NOT NULL DEFAULT txid_current(),
	num BIGINT NOT NULL -- of the link
);
CREATE INDEX link_journal_xid ON link_journal (xid);
-- +goose StatementBegin
CREATE FUNCTION urls_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_journal (num) SELECT num FROM changed;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_journal_insert AFTER INSERT ON urls REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION urls_journal();
CREATE TRIGGER urls_journal_delete AFTER DELETE ON urls REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION urls_journal();
-- +goose StatementBegin
CREATE FUNCTION urls_journal_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_journal (num) SELECT made.num FROM made JOIN gone USING (num)
	WHERE (gone.workspace_num, gone.user_id, gone.active, gone.expires_at, gone.starts_at, gone.exhausted_at, gone.suspended_at, gone.utm_campaign, gone.title, gone.slug, gone.search_text, gone.click_count, gone.created_at, gone.updated_at)
		IS DISTINCT FROM (made.workspace_num, made.user_id, made.active, made.expires_at, made.starts_at, made.exhausted_at, made.suspended_at, made.utm_campaign, made.title, made.slug, made.search_text, made.click_count, made.created_at, made.updated_at);
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_journal_update AFTER UPDATE ON urls REFERENCING OLD TABLE AS gone NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION urls_journal_update();
-- +goose StatementBegin
CREATE FUNCTION bundle_urls_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_journal (num) SELECT DISTINCT urls.num FROM changed JOIN urls ON urls.id = changed.url_id;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER bundle_urls_journal_insert AFTER INSERT ON bundle_urls REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bundle_urls_journal();
CREATE TRIGGER bundle_urls_journal_delete AFTER DELETE ON bundle_urls REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bundle_urls_journal();
-- +goose StatementBegin
CREATE FUNCTION url_tags_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_journal (num) SELECT DISTINCT url_num FROM changed;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER url_tags_journal_insert AFTER INSERT ON url_tags REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION url_tags_journal();
CREATE TRIGGER url_tags_journal_delete AFTER DELETE ON url_tags REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION url_tags_journal();

-- Addresses of deleted links that were suspended. Only the same link can have such an address again, from the trash, until an
-- administrator releases the address.
CREATE TABLE suspended_slugs (
	slug     TEXT   COLLATE "C" PRIMARY KEY, -- as in urls
	link_num BIGINT NOT NULL
);
-- +goose StatementBegin
CREATE FUNCTION urls_keep_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO suspended_slugs (slug, link_num) VALUES (OLD.slug, OLD.num) ON CONFLICT (slug) DO UPDATE SET link_num = excluded.link_num;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_keep_suspended AFTER DELETE ON urls FOR EACH ROW WHEN (OLD.suspended_at IS NOT NULL) EXECUTE FUNCTION urls_keep_suspended();
-- +goose StatementBegin
CREATE FUNCTION urls_refuse_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM suspended_slugs s WHERE s.slug = NEW.slug AND s.link_num <> NEW.num) THEN
		RETURN NULL;
	END IF;
	RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_refuse_suspended BEFORE INSERT ON urls FOR EACH ROW EXECUTE FUNCTION urls_refuse_suspended();
-- +goose StatementBegin
CREATE FUNCTION urls_release_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM suspended_slugs WHERE link_num = NEW.num;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER urls_release_suspended AFTER UPDATE OF suspended_at ON urls FOR EACH ROW WHEN (OLD.suspended_at IS NOT NULL AND NEW.suspended_at IS NULL) EXECUTE FUNCTION urls_release_suspended();

-- Failed attempts at link passwords at all edges. Every change takes the next mark and thereby a lock, so marks commit in order.
CREATE TABLE guess_head (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	mark BIGINT  NOT NULL
);
INSERT INTO guess_head (id, mark) VALUES (1, 0);

CREATE TABLE guesses (
	link      BIGINT  NOT NULL, -- number of the link
	client    TEXT    NOT NULL, -- an IPv4 address, or the first address of an IPv6 /64
	count     INTEGER NOT NULL, -- 0: the client entered the correct password
	last_at   BIGINT  NOT NULL,
	forget_at BIGINT  NOT NULL, -- when the row is deleted
	mark      BIGINT  NOT NULL,
	PRIMARY KEY (link, client)
);
CREATE INDEX guesses_mark ON guesses (mark);
CREATE INDEX guesses_forget ON guesses (forget_at);

-- Clicks of people at links with a limit, as edges report them. Every change takes the next mark and thereby a lock, so marks commit
-- in order. A link may get its limit several times; since tells them apart (urls.limit_since).
CREATE TABLE limit_head (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	mark BIGINT  NOT NULL
);
INSERT INTO limit_head (id, mark) VALUES (1, 0);

CREATE TABLE limit_counts (
	link    BIGINT NOT NULL, -- number of the link
	since   BIGINT NOT NULL,
	counter BIGINT NOT NULL, -- random number of an edge's counter
	clicks  BIGINT NOT NULL, -- the highest value that the edge has reported
	PRIMARY KEY (link, since, counter)
);

CREATE TABLE limit_totals (
	link   BIGINT NOT NULL,
	since  BIGINT NOT NULL,
	clicks BIGINT NOT NULL, -- of all counters
	mark   BIGINT NOT NULL,
	PRIMARY KEY (link, since)
);
CREATE INDEX limit_totals_mark ON limit_totals (mark);

-- Requests for slugs that do not exist, per UTC day. Edges report the most frequent ones.
CREATE TABLE missing_slugs (
	day        BIGINT NOT NULL, -- days since 1970-01-01
	host       TEXT   NOT NULL, -- '': the host of BASE_URL
	slug       TEXT   NOT NULL,
	count      BIGINT NOT NULL,
	first_at   BIGINT NOT NULL,
	last_at    BIGINT NOT NULL,
	-- The domain of a slug that does not exist; 0: the default one. The column slug has the key that a link would have.
	domain_num BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (day, host, slug)
);

-- The last batch of missing slugs that was counted, for each edge. A batch that is sent again is not counted again.
CREATE TABLE missing_marks (
	edge    TEXT   PRIMARY KEY,
	run     TEXT   NOT NULL,
	seq     BIGINT NOT NULL,
	seen_at BIGINT NOT NULL
);

-- The queue of links that administrators should look at. There is at most one open case per link and source. Cases outlive their
-- links.
CREATE TABLE abuse_cases (
	id            TEXT   PRIMARY KEY,
	url_id        TEXT   NOT NULL,
	workspace_num BIGINT NOT NULL,
	slug          TEXT   NOT NULL,
	source        TEXT   NOT NULL CHECK (source IN ('VISITOR', 'BLOCKLIST', 'CHECK')),
	status        TEXT   NOT NULL CHECK (status IN ('OPEN', 'DISMISSED', 'ACTIONED')),
	detail        TEXT   NOT NULL, -- the blocked destination and why; '' for reports of visitors
	reports       BIGINT NOT NULL,
	reasons       TEXT   NOT NULL, -- JSON: how many reports gave each reason
	messages      TEXT   NOT NULL, -- JSON: texts of the first reports
	created_at    BIGINT NOT NULL,
	last_at       BIGINT NOT NULL,
	resolved_at   BIGINT,
	resolved_by   TEXT, -- id of a user; NULL: the service
	-- The host name of a reported link; NULL: that of the service. It is kept after the link was deleted.
	hostname      TEXT
);
CREATE UNIQUE INDEX abuse_cases_open ON abuse_cases (url_id, source) WHERE status = 'OPEN';
CREATE INDEX abuse_cases_status ON abuse_cases (status, last_at, id);
CREATE INDEX abuse_cases_url ON abuse_cases (url_id);

-- How far the checks of all destinations are. One process at a time runs a check.
CREATE TABLE destination_checks (
	name        TEXT   PRIMARY KEY, -- BLOCKLIST or CHECK
	version     TEXT   NOT NULL,    -- of what the check compares with; another one starts the check again
	after_num   BIGINT NOT NULL,    -- links up to this number are done
	started_at  BIGINT NOT NULL,
	finished_at BIGINT NOT NULL,    -- 0: it is not finished
	holder      TEXT   NOT NULL,
	lease_until BIGINT NOT NULL
);

-- Imports of links from files.
CREATE TABLE imports (
	num           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id            TEXT   NOT NULL UNIQUE,
	workspace_num BIGINT NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	user_id       TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name          TEXT   NOT NULL,
	status        TEXT   NOT NULL, -- MAPPING, RUNNING, DONE, FAILED or CANCELLED
	delimiter     TEXT   NOT NULL,
	columns       TEXT   NOT NULL, -- JSON: name, sample and suggested field of each
	mapping       TEXT   NOT NULL, -- JSON: names of columns by field; empty before the start
	conflicts     TEXT   NOT NULL, -- skip, rename or overwrite; empty before the start
	row_count     BIGINT NOT NULL,
	done          BIGINT NOT NULL, -- rows from the first one on that are finished
	created       BIGINT NOT NULL,
	updated       BIGINT NOT NULL,
	skipped       BIGINT NOT NULL,
	renamed       BIGINT NOT NULL,
	failed        BIGINT NOT NULL,
	failure       TEXT   NOT NULL, -- why the import has the status FAILED
	holder        TEXT   NOT NULL, -- the process that imports rows
	lease_until   BIGINT NOT NULL, -- by the clock of the database
	created_at    BIGINT NOT NULL,
	started_at    BIGINT,
	finished_at   BIGINT
);
CREATE INDEX imports_workspace ON imports (workspace_num, num);
CREATE INDEX imports_user ON imports (user_id);
CREATE INDEX imports_running ON imports (lease_until, num) WHERE status = 'RUNNING';

-- The file of an import is apart, because every step of an import writes its row.
CREATE TABLE import_files (
	import_num BIGINT PRIMARY KEY REFERENCES imports (num) ON DELETE CASCADE,
	content    BYTEA  NOT NULL -- compressed with gzip
);

CREATE TABLE import_problems (
	import_num  BIGINT NOT NULL REFERENCES imports (num) ON DELETE CASCADE,
	line        BIGINT NOT NULL, -- of the row in the file
	part        BIGINT NOT NULL, -- number of the problem in the row
	field       TEXT   NOT NULL,
	column_name TEXT   NOT NULL,
	value       TEXT   NOT NULL,
	message     TEXT   NOT NULL,
	PRIMARY KEY (import_num, line, part)
);

-- ========== Hosts

-- Custom domains. Links on a domain have its number in the column slug; see ADR 18.
CREATE TABLE domains (
	num            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id             TEXT    NOT NULL UNIQUE,
	workspace_num  BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	hostname       TEXT    COLLATE "C" NOT NULL, -- in ASCII and lower case
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
	updated_at     BIGINT  NOT NULL,
	-- The brand on a domain's pages for visitors.
	brand_name     TEXT,
	brand_logo_url TEXT
);
-- One workspace at a time holds a name. Others may prepare to take it over, but only with a domain that is not in service.
CREATE UNIQUE INDEX domains_holder ON domains (hostname) WHERE status IN ('ACTIVE', 'SUSPENDED');
CREATE UNIQUE INDEX domains_workspace ON domains (workspace_num, hostname);
CREATE UNIQUE INDEX domains_default ON domains (workspace_num) WHERE is_default;
CREATE INDEX domains_checked ON domains (checked_at);
CREATE INDEX domains_revision ON domains (revision);

-- Every name that a workspace has added and that is not in service. Edges answer nobody's links there while a domain has the name,
-- or the name is reserved.
CREATE TABLE gone_hosts (
	hostname       TEXT   COLLATE "C" PRIMARY KEY,
	revision       BIGINT NOT NULL,
	reserved_until BIGINT, -- Unix milliseconds; 0: not reserved; NULL: reserved, and the end is set later
	holder         BIGINT, -- the workspace whose domain was deleted, the only one that may add the name again; NULL: any
	looked_at      BIGINT NOT NULL DEFAULT 0 -- when DNS was last asked where a reserved name leads
);
CREATE INDEX gone_hosts_revision ON gone_hosts (revision);

-- The domain of every link that was ever made on a custom domain. Rows stay when links are deleted, because the click store keeps
-- their clicks, and reports by domain count them. Links that are not here are on the default domain.
CREATE TABLE link_domains (
	link_num      BIGINT PRIMARY KEY,
	domain_num    BIGINT NOT NULL,
	workspace_num BIGINT NOT NULL
);
CREATE INDEX link_domains_domain ON link_domains (workspace_num, domain_num, link_num);
CREATE INDEX link_domains_links ON link_domains (domain_num, link_num);

-- Certificates of the host names that edges serve, and what a certificate authority needs to issue them. Private keys are sealed.
CREATE TABLE certificates (
	num        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	domain_num BIGINT UNIQUE REFERENCES domains (num) ON DELETE CASCADE, -- NULL: a name of the service itself
	hostname   TEXT   COLLATE "C" NOT NULL,
	source     TEXT   NOT NULL, -- ACME or UPLOADED
	status     TEXT   NOT NULL, -- PENDING, ACTIVE or FAILED
	chain      TEXT, -- PEM, the host's own certificate first; NULL: there is none yet
	sealed_key TEXT, -- of the private key
	issuer     TEXT,
	not_before BIGINT NOT NULL, -- 0: there is no certificate
	not_after  BIGINT NOT NULL,
	last_error TEXT, -- of the last order; NULL: it succeeded
	failures   BIGINT NOT NULL, -- orders that failed since the last one that succeeded
	next_at    BIGINT NOT NULL, -- when to order a certificate, or to look whether it is time to renew it
	announced  BIGINT NOT NULL, -- the last announcement of the expiry, in days before it; 0: none
	revision   BIGINT NOT NULL, -- of the last change that edges have to know, for a name of the service
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX certificates_own ON certificates (hostname) WHERE domain_num IS NULL;
CREATE INDEX certificates_next ON certificates (next_at);
CREATE INDEX certificates_failing ON certificates (domain_num) WHERE failures > 0;
CREATE INDEX certificates_end ON certificates (not_after) WHERE not_after > 0;

-- Questions of a certificate authority that edges answer at present.
CREATE TABLE acme_challenges (
	token             TEXT   PRIMARY KEY,
	hostname          TEXT   COLLATE "C" NOT NULL,
	key_authorization TEXT   NOT NULL,
	created_at        BIGINT NOT NULL
);
CREATE INDEX acme_challenges_hostname ON acme_challenges (hostname);

-- Files of the ACME client: accounts, keys and certificates. Contents are sealed.
CREATE TABLE acme_files (
	name       TEXT   COLLATE "C" PRIMARY KEY,
	sealed     TEXT   NOT NULL,
	size       BIGINT NOT NULL, -- of the content, in bytes
	updated_at BIGINT NOT NULL
);

-- Locks of the ACME client. A lock whose holder has died can be taken when it has expired.
CREATE TABLE acme_locks (
	name       TEXT   PRIMARY KEY,
	holder     TEXT   NOT NULL,
	expires_at BIGINT NOT NULL
);

-- Orders of certificates, for the budget of a certificate authority.
CREATE TABLE acme_orders (
	num        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	directory  TEXT    NOT NULL, -- URL of the certificate authority
	hostname   TEXT    NOT NULL,
	doubtful   BOOLEAN NOT NULL, -- likely to fail, so that only a share of the budget is for such orders
	started_at BIGINT  NOT NULL,
	ended_at   BIGINT, -- NULL: in progress, or its control plane was killed
	outcome    TEXT -- NULL like ended_at; '': succeeded; else the error
);
CREATE INDEX acme_orders_started ON acme_orders (directory, started_at);
CREATE INDEX acme_orders_open ON acme_orders (hostname) WHERE ended_at IS NULL;

-- Keys of TLS session tickets, sealed. The second newest encrypts: by the time it is used, all edges have it.
CREATE TABLE ticket_keys (
	num        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	sealed     TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	revision   BIGINT NOT NULL
);
CREATE INDEX ticket_keys_revision ON ticket_keys (revision);

-- ========== Clicks

-- Ranges of missing clicks, and the requests to ship them again.
CREATE TABLE click_gaps (
	edge     TEXT    NOT NULL,
	epoch    BIGINT  NOT NULL,
	lane     INTEGER NOT NULL,
	seq_from BIGINT  NOT NULL,
	seq_to   BIGINT  NOT NULL,
	found_at BIGINT  NOT NULL,
	seen_at  BIGINT  NOT NULL, -- last time that the range was missing
	due_at   BIGINT,           -- when to request the clicks from the edge; NULL: never
	asked    INTEGER NOT NULL, -- number of requests
	held     BIGINT,           -- clicks that the edge still had; NULL: no answer yet
	refused  TEXT    NOT NULL, -- why the edge could not ship the whole range; '': it could
	PRIMARY KEY (edge, epoch, lane, seq_from, seq_to)
);
CREATE INDEX click_gaps_due ON click_gaps (edge, due_at);

-- A process records the hours of clicks before it stores them, and removes them when counters include these clicks. If the process
-- ends in between, another one counts the links of these hours again.
CREATE TABLE uncounted_hours (
	hour    BIGINT NOT NULL, -- Unix milliseconds
	writer  BIGINT NOT NULL, -- number of the process
	seen_at BIGINT NOT NULL, -- when the process was last known to live, in Unix milliseconds
	PRIMARY KEY (hour, writer)
);

-- In addition, all counters are compared with the click store in turn. This is the number of the link that is next.
CREATE TABLE counters_compared (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	link BIGINT  NOT NULL
);
INSERT INTO counters_compared (id, link) VALUES (1, 0);

-- Counters (clicks of a link or a variant, matches of a rule) include all clicks ever. If clicks are kept for a limited time, clicks
-- before a certain time are counted once, here. The click store counts only the later ones.
CREATE TABLE expired_clicks (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	through BIGINT  NOT NULL -- Unix milliseconds; earlier clicks are counted here
);
INSERT INTO expired_clicks (id, through) VALUES (1, 0);

CREATE TABLE expired_counts (
	kind    TEXT   NOT NULL, -- link, variant or rule
	id      TEXT   NOT NULL, -- for a link: its number
	clicks  BIGINT NOT NULL,
	last_at BIGINT NOT NULL, -- newest match of a rule, else 0
	PRIMARY KEY (kind, id)
);

-- How far processes with the role ingest are with each topic.
CREATE TABLE ingest_progress (
	process   TEXT   NOT NULL, -- a random name of one start of a process
	source    TEXT   NOT NULL, -- clicks or conversions
	behind_ms BIGINT NOT NULL, -- age of the oldest message that was not stored
	at        BIGINT NOT NULL, -- by the clock of the database
	PRIMARY KEY (process, source)
);

-- Click stores of a fleet with several (shards), and the shard of each workspace. Without several shards the tables stay empty.
CREATE TABLE click_shards (
	name     TEXT    PRIMARY KEY,
	num      INTEGER NOT NULL UNIQUE, -- the first one, 1, has the clicks from before there were several
	identity TEXT    NOT NULL UNIQUE, -- which the click store keeps with its data
	is_open  BOOLEAN NOT NULL,        -- whether new workspaces are assigned to it
	added_at BIGINT  NOT NULL
);

-- A row stays when the workspace is deleted, because its clicks stay.
CREATE TABLE click_shard_workspaces (
	workspace_num BIGINT PRIMARY KEY,
	shard         TEXT   NOT NULL REFERENCES click_shards (name)
);
CREATE INDEX click_shard_workspaces_shard ON click_shard_workspaces (shard);

-- What each running process knows. A shard is opened only when all of them know it.
CREATE TABLE click_shard_processes (
	process  BIGINT PRIMARY KEY, -- a random number
	host     TEXT   NOT NULL,
	shards   TEXT   NOT NULL,    -- names, separated by commas
	seen_at  BIGINT NOT NULL, -- Unix milliseconds
	-- Up to which version of the directory a process has ended all writes and reads that began with an older one.
	writes   BIGINT NOT NULL DEFAULT 0,
	reads    BIGINT NOT NULL DEFAULT 0,
	-- Which version of the directory new reads and writes of a process use, and replicas, which only programs from before this
	-- schema read.
	version  BIGINT NOT NULL DEFAULT 0,
	replicas TEXT   NOT NULL DEFAULT ''
);

-- Workspaces whose clicks move to another shard.
CREATE TABLE click_shard_moves (
	workspace_num BIGINT PRIMARY KEY,
	move          BIGINT NOT NULL, -- a random number; workspaces that have exchanged links move together
	source        TEXT   NOT NULL REFERENCES click_shards (name),
	target        TEXT   NOT NULL REFERENCES click_shards (name),
	phase         TEXT   NOT NULL, -- ANNOUNCED, BOTH, SWITCHED or CANCELLED
	runner        BIGINT NOT NULL, -- a random number of the program that runs the move
	runner_host   TEXT   NOT NULL,
	runner_at     BIGINT NOT NULL  -- when it was last seen, Unix milliseconds by the clock of the database
);

-- One row. The version rises with every change of a move, so that processes notice it.
CREATE TABLE click_shard_directory (version BIGINT NOT NULL);
INSERT INTO click_shard_directory (version) VALUES (1);

-- A shard is one ClickHouse service, which copies its data itself. Programs from before this schema read the view: it tells them
-- that no shard has several servers.
CREATE VIEW click_replicas AS SELECT
	CAST('' AS TEXT) AS shard, CAST('' AS TEXT) AS address, CAST('' AS TEXT) AS identity, CAST('' AS TEXT) AS state, CAST('' AS TEXT) AS reason,
	CAST(0 AS BIGINT) AS since, CAST(0 AS BIGINT) AS version, CAST(0 AS BIGINT) AS runner, CAST(0 AS BIGINT) AS runner_at WHERE 1 = 0;

-- Web sites of a workspace that send conversions from browsers.
CREATE TABLE conversion_sources (
	workspace_num   BIGINT PRIMARY KEY REFERENCES workspaces (num) ON DELETE CASCADE,
	publishable_key TEXT   NOT NULL UNIQUE,
	hosts           TEXT   NOT NULL, -- JSON: names of hosts
	updated_at      BIGINT NOT NULL
);

-- What edges have to know of conversions has changed: a setting of a workspace, or a new period of keys. There is one row for each
-- name.
CREATE TABLE conversion_news (
	name     TEXT   PRIMARY KEY, -- 'sources', or 'period:' and the number of the period
	revision BIGINT NOT NULL
);

-- The names of conversions of each link.
CREATE TABLE goals (
	link_num   BIGINT NOT NULL,
	name       TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (link_num, name)
);

-- One experiment for each link that has one.
CREATE TABLE experiments (
	link_num   BIGINT PRIMARY KEY,
	goal       TEXT   NOT NULL,
	optimize   TEXT   NOT NULL, -- off or bandit
	on_winner  TEXT   NOT NULL, -- notify or promote
	seed       BIGINT NOT NULL, -- of the autopilot's random numbers
	started_at BIGINT NOT NULL, -- clicks from then on count
	status     TEXT   NOT NULL, -- RUNNING, WINNER, NO_DIFFERENCE or INVALID
	variant_id TEXT,            -- the winner
	decided_at BIGINT,
	reason     TEXT   NOT NULL, -- of the status
	paused     TEXT,            -- why the autopilot waits; NULL: it does not
	checked_at BIGINT NOT NULL, -- when the autopilot last looked
	step       BIGINT NOT NULL, -- how often the autopilot has drawn weights
	revision   BIGINT NOT NULL, -- of the experiment, for ETag
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL
);
CREATE INDEX experiments_running ON experiments (checked_at) WHERE status = 'RUNNING';

-- Every set of weights of an experiment.
CREATE TABLE experiment_weights (
	num      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	link_num BIGINT NOT NULL,
	at       BIGINT NOT NULL,
	weights  TEXT   NOT NULL, -- JSON: ids of variants and their weights
	source   TEXT   NOT NULL, -- AUTOPILOT, PROMOTION or OWNER
	reason   TEXT   NOT NULL,
	figures  TEXT   NOT NULL  -- JSON: what the decision was made from
);
CREATE INDEX experiment_weights_link ON experiment_weights (link_num, num);

-- The conversion that counts for each number (externalId) of a shop, within a workspace and a name.
CREATE TABLE conversion_claims (
	id         TEXT   COLLATE "C" PRIMARY KEY, -- hash of the workspace, the name and the number
	link_num   BIGINT NOT NULL,                -- with the next two: the click
	clicked_at BIGINT NOT NULL,
	tag        BIGINT NOT NULL,
	claimed_at BIGINT NOT NULL
);
CREATE INDEX conversion_claims_claimed_at ON conversion_claims (claimed_at);

-- ========== Edges and webhooks

-- Last report of each edge. A second live process with the same id is refused.
CREATE TABLE edge_reports (
	edge    TEXT   PRIMARY KEY,
	run     TEXT   NOT NULL, -- random id of the process
	status  TEXT   NOT NULL, -- report as JSON
	seen_at BIGINT NOT NULL,
	since   BIGINT NOT NULL, -- first report of this run
	twin    TEXT   NOT NULL, -- run that was last refused; '': none
	twin_at BIGINT, -- time of that refusal
	-- Identity of the token that the edge reports with; '': not known.
	token   TEXT   NOT NULL DEFAULT ''
);

CREATE TABLE webhooks (
	id             TEXT    PRIMARY KEY,
	user_id        TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name           TEXT    NOT NULL,
	url            TEXT    NOT NULL,
	secret         TEXT,             -- encrypted
	headers        TEXT,             -- encrypted JSON object
	events         TEXT    NOT NULL, -- names, separated by commas
	every_link     BOOLEAN NOT NULL DEFAULT FALSE,
	active         BOOLEAN NOT NULL DEFAULT TRUE,
	sent           BIGINT  NOT NULL DEFAULT 0,
	succeeded      BIGINT  NOT NULL DEFAULT 0,
	failed         BIGINT  NOT NULL DEFAULT 0,
	last_sent_at   BIGINT,
	last_error     TEXT,
	search_text    TEXT    NOT NULL, -- lower-case name and address, one per line
	created_at     BIGINT  NOT NULL,
	updated_at     BIGINT  NOT NULL,
	workspace_num  BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	-- How long a webhook has been failing.
	failure_streak BIGINT  NOT NULL DEFAULT 0,
	failing_since  BIGINT,
	made_by_key    TEXT
);
CREATE INDEX webhooks_user ON webhooks (user_id, created_at);
CREATE INDEX webhooks_created ON webhooks (created_at);
CREATE INDEX webhooks_every_link ON webhooks (active) WHERE every_link;
CREATE TRIGGER webhooks_workspace BEFORE INSERT ON webhooks FOR EACH ROW WHEN (NEW.workspace_num IS NULL) EXECUTE FUNCTION choose_personal_workspace();
CREATE INDEX webhooks_workspace ON webhooks (workspace_num, created_at);
CREATE INDEX webhooks_made_by_key ON webhooks (made_by_key) WHERE made_by_key IS NOT NULL;

-- Deliveries that wait. Claiming a row moves due_at to the end of the lease.
CREATE TABLE webhook_deliveries (
	id         TEXT    PRIMARY KEY,
	webhook_id TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
	event_id   TEXT    NOT NULL,
	event      TEXT    NOT NULL,
	payload    TEXT    NOT NULL, -- the body, sent unchanged
	attempts   INTEGER NOT NULL DEFAULT 0,
	due_at     BIGINT  NOT NULL,
	lease      TEXT    NOT NULL DEFAULT '',
	created_at BIGINT  NOT NULL,
	UNIQUE (webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at);
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (webhook_id, due_at, event_id);
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);

-- All attempts.
CREATE TABLE webhook_logs (
	id          TEXT    PRIMARY KEY,
	webhook_id  TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
	delivery_id TEXT    NOT NULL,
	event       TEXT    NOT NULL,
	payload     TEXT    NOT NULL,
	success     BOOLEAN NOT NULL,
	status_code INTEGER,
	response    TEXT,
	error       TEXT,
	duration    BIGINT  NOT NULL, -- milliseconds
	attempt     INTEGER NOT NULL,
	sent_at     BIGINT  NOT NULL
);
CREATE INDEX webhook_logs_webhook ON webhook_logs (webhook_id, sent_at, id);
CREATE INDEX webhook_logs_delivery ON webhook_logs (delivery_id);
CREATE INDEX webhook_logs_sent ON webhook_logs (sent_at);
-- Lists of failed deliveries, and their repetition, do not read the deliveries that succeeded.
CREATE INDEX webhook_logs_failed ON webhook_logs (webhook_id, sent_at, id) WHERE NOT success;
