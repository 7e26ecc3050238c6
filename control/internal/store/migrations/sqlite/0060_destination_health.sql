-- +goose Up
-- What time does to links: rows are made by triggers, whatever program changes a link, and deleted in the transaction that tells
-- webhooks. An end that was in the past when the link was made is not told.
CREATE TABLE link_due (
	link_num BIGINT NOT NULL REFERENCES urls (num) ON DELETE CASCADE,
	event    TEXT   NOT NULL, -- started, expired or exhausted
	due_at   BIGINT NOT NULL, -- Unix milliseconds
	PRIMARY KEY (link_num, event)
) WITHOUT ROWID;
CREATE INDEX link_due_next ON link_due (due_at);
INSERT INTO link_due (link_num, event, due_at)
	SELECT num, 'started', starts_at FROM urls WHERE starts_at > CAST(strftime('%s', 'now') AS INTEGER) * 1000
	UNION ALL SELECT num, 'expired', expires_at FROM urls WHERE expires_at > CAST(strftime('%s', 'now') AS INTEGER) * 1000;
-- +goose StatementBegin
CREATE TRIGGER urls_due_inserted AFTER INSERT ON urls WHEN NEW.starts_at IS NOT NULL OR NEW.expires_at IS NOT NULL BEGIN
	INSERT INTO link_due (link_num, event, due_at) SELECT NEW.num, 'started', NEW.starts_at
		WHERE NEW.starts_at > CAST(strftime('%s', 'now') AS INTEGER) * 1000;
	INSERT INTO link_due (link_num, event, due_at) SELECT NEW.num, 'expired', NEW.expires_at
		WHERE NEW.expires_at > CAST(strftime('%s', 'now') AS INTEGER) * 1000;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_due_start AFTER UPDATE OF starts_at ON urls WHEN OLD.starts_at IS NOT NEW.starts_at BEGIN
	DELETE FROM link_due WHERE link_num = NEW.num AND event = 'started';
	INSERT INTO link_due (link_num, event, due_at) SELECT NEW.num, 'started', coalesce(NEW.starts_at, NEW.updated_at)
		WHERE NEW.starts_at > CAST(strftime('%s', 'now') AS INTEGER) * 1000
			OR OLD.starts_at > CAST(strftime('%s', 'now') AS INTEGER) * 1000;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_due_end AFTER UPDATE OF expires_at ON urls WHEN OLD.expires_at IS NOT NEW.expires_at BEGIN
	DELETE FROM link_due WHERE link_num = NEW.num AND event = 'expired';
	INSERT INTO link_due (link_num, event, due_at) SELECT NEW.num, 'expired', NEW.expires_at
		WHERE NEW.expires_at IS NOT NULL AND (NEW.expires_at > CAST(strftime('%s', 'now') AS INTEGER) * 1000
			OR OLD.expires_at IS NULL OR OLD.expires_at > CAST(strftime('%s', 'now') AS INTEGER) * 1000);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_due_exhaustion AFTER UPDATE OF exhausted_at ON urls WHEN (OLD.exhausted_at IS NULL) <> (NEW.exhausted_at IS NULL) BEGIN
	DELETE FROM link_due WHERE link_num = NEW.num AND event = 'exhausted';
	INSERT INTO link_due (link_num, event, due_at) SELECT NEW.num, 'exhausted', NEW.exhausted_at WHERE NEW.exhausted_at IS NOT NULL;
END;
-- +goose StatementEnd

-- The addresses to which links lead, each once, and what the daily question said.
CREATE TABLE destinations (
	num        INTEGER PRIMARY KEY AUTOINCREMENT,
	hash       TEXT    NOT NULL UNIQUE, -- SHA-256 of the address, in hexadecimal: addresses are too long for an index
	url        TEXT    NOT NULL,
	host       TEXT    NOT NULL,
	health     TEXT    NOT NULL DEFAULT 'unknown',
	reason     TEXT    NOT NULL DEFAULT '', -- a code
	status     INTEGER NOT NULL DEFAULT 0,  -- of the last answer; 0: none
	failures   INTEGER NOT NULL DEFAULT 0,  -- in a row
	since      BIGINT  NOT NULL DEFAULT 0,  -- since when it has this health
	checked_at BIGINT  NOT NULL DEFAULT 0,  -- 0: never
	due_at     BIGINT  NOT NULL,            -- of the next question
	reserved   BOOLEAN NOT NULL DEFAULT FALSE, -- the host expects the question at due_at
	spread     BIGINT                       -- links up to this number know the health; NULL: all
);
CREATE INDEX destinations_due ON destinations (due_at);
CREATE INDEX destinations_spread ON destinations (num) WHERE spread IS NOT NULL;

-- Hosts are not asked more often than they like: a question that comes too early takes the next free time of its host.
CREATE TABLE destination_hosts (
	host       TEXT   PRIMARY KEY,
	free_at    BIGINT NOT NULL,
	shut_until BIGINT NOT NULL DEFAULT 0 -- until then the host wants no question
);
CREATE INDEX destination_hosts_free ON destination_hosts (free_at);

CREATE TABLE link_destinations (
	link_num        BIGINT NOT NULL REFERENCES urls (num) ON DELETE CASCADE,
	destination_num BIGINT NOT NULL REFERENCES destinations (num) ON DELETE CASCADE,
	PRIMARY KEY (link_num, destination_num)
) WITHOUT ROWID;
CREATE INDEX link_destinations_destination ON link_destinations (destination_num, link_num);

-- The worst health of a link's addresses. A link without a row is unknown.
CREATE TABLE link_health (
	link_num        INTEGER PRIMARY KEY REFERENCES urls (num) ON DELETE CASCADE,
	health          TEXT   NOT NULL,
	destination_num BIGINT NOT NULL REFERENCES destinations (num) ON DELETE CASCADE, -- the worst
	since           BIGINT NOT NULL
);
CREATE INDEX link_health_state ON link_health (health, link_num);
CREATE INDEX link_health_destination ON link_health (destination_num);
