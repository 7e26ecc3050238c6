-- +goose Up
-- The journal of links that lists show or sort differently than before. The program keeps the columns of lists in memory
-- and reads the journal to apply changes. Triggers write it, so that no statement is forgotten. The program deletes entries
-- after some minutes, but never the newest one, so that numbers are not reused.
CREATE INDEX audit_logs_by_user ON audit_logs (user_id, seq);
CREATE INDEX audit_logs_by_entity ON audit_logs (entity_id, created_at, seq);
CREATE TABLE link_journal (
	seq INTEGER PRIMARY KEY,
	num BIGINT NOT NULL -- of the link
);
-- +goose StatementBegin
CREATE TRIGGER urls_journal_insert AFTER INSERT ON urls WHEN TRUE BEGIN
	INSERT INTO link_journal (num) VALUES (NEW.num);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_journal_update AFTER UPDATE OF workspace_num, user_id, active, expires_at, starts_at, exhausted_at, suspended_at, utm_campaign, title, slug, search_text, click_count, created_at, updated_at ON urls WHEN TRUE BEGIN
	INSERT INTO link_journal (num) VALUES (NEW.num);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_journal_delete AFTER DELETE ON urls WHEN TRUE BEGIN
	INSERT INTO link_journal (num) VALUES (OLD.num);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER url_tags_journal_insert AFTER INSERT ON url_tags WHEN TRUE BEGIN
	INSERT INTO link_journal (num) VALUES (NEW.url_num);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER url_tags_journal_delete AFTER DELETE ON url_tags WHEN TRUE BEGIN
	INSERT INTO link_journal (num) VALUES (OLD.url_num);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER bundle_urls_journal_insert AFTER INSERT ON bundle_urls WHEN TRUE BEGIN
	INSERT INTO link_journal (num) SELECT num FROM urls WHERE id = NEW.url_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER bundle_urls_journal_delete AFTER DELETE ON bundle_urls WHEN TRUE BEGIN
	INSERT INTO link_journal (num) SELECT num FROM urls WHERE id = OLD.url_id;
END;
-- +goose StatementEnd
