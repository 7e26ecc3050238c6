-- +goose Up
-- Indexes of the filters of lists, and figures that would take too long to count. Triggers keep the figures, so that links
-- count that programs of the previous release change.
DROP INDEX urls_user_created;
DROP INDEX urls_workspace_expires;
DROP INDEX urls_expires;
CREATE INDEX urls_creator ON urls (user_id, workspace_num, num);
CREATE INDEX urls_campaign ON urls (utm_campaign, workspace_num, num) WHERE utm_campaign IS NOT NULL;
CREATE INDEX urls_inactive ON urls (workspace_num, num, expires_at, exhausted_at, suspended_at) WHERE NOT active;
CREATE INDEX urls_scheduled ON urls (workspace_num, starts_at, num) WHERE starts_at IS NOT NULL;
CREATE INDEX urls_exhausted ON urls (workspace_num, num) WHERE exhausted_at IS NOT NULL;
CREATE INDEX urls_suspended ON urls (workspace_num, num) WHERE suspended_at IS NOT NULL;
CREATE INDEX urls_workspace_expires ON urls (workspace_num, expires_at, num, suspended_at);
CREATE INDEX urls_expires ON urls (expires_at, num, suspended_at);
CREATE INDEX audit_logs_action ON audit_logs (action, created_at, seq);
CREATE INDEX audit_logs_type ON audit_logs (entity_type, created_at, seq);

-- Links by state and by the hours in which they expire and start; -1 stands for never.
CREATE TABLE link_counts (
	workspace_num BIGINT NOT NULL,
	state         INTEGER NOT NULL, -- 0: active, 1: inactive, 2: exhausted, 3: suspended
	expires_hour  BIGINT NOT NULL,  -- hours since 1970
	starts_hour   BIGINT NOT NULL,
	links         BIGINT NOT NULL,
	clicks        BIGINT NOT NULL,
	PRIMARY KEY (workspace_num, state, expires_hour, starts_hour)
) WITHOUT ROWID;
-- Values of the campaign fields, and the number of links that have each.
CREATE TABLE utm_values (
	field         TEXT   NOT NULL, -- a column of urls
	workspace_num BIGINT NOT NULL,
	value         TEXT   NOT NULL,
	links         BIGINT NOT NULL,
	PRIMARY KEY (field, workspace_num, value)
) WITHOUT ROWID;
INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
SELECT workspace_num, CASE WHEN suspended_at IS NOT NULL THEN 3 WHEN exhausted_at IS NOT NULL THEN 2 WHEN NOT active THEN 1 ELSE 0 END, coalesce(expires_at / 3600000, -1), coalesce(starts_at / 3600000, -1), count(*), sum(click_count) FROM urls GROUP BY 1, 2, 3, 4;
INSERT INTO utm_values (field, workspace_num, value, links) SELECT 'utm_source', workspace_num, utm_source, count(*) FROM urls WHERE utm_source IS NOT NULL GROUP BY 2, 3;
INSERT INTO utm_values (field, workspace_num, value, links) SELECT 'utm_medium', workspace_num, utm_medium, count(*) FROM urls WHERE utm_medium IS NOT NULL GROUP BY 2, 3;
INSERT INTO utm_values (field, workspace_num, value, links) SELECT 'utm_campaign', workspace_num, utm_campaign, count(*) FROM urls WHERE utm_campaign IS NOT NULL GROUP BY 2, 3;
INSERT INTO utm_values (field, workspace_num, value, links) SELECT 'utm_term', workspace_num, utm_term, count(*) FROM urls WHERE utm_term IS NOT NULL GROUP BY 2, 3;
INSERT INTO utm_values (field, workspace_num, value, links) SELECT 'utm_content', workspace_num, utm_content, count(*) FROM urls WHERE utm_content IS NOT NULL GROUP BY 2, 3;
INSERT INTO utm_values (field, workspace_num, value, links) SELECT 'utm_id', workspace_num, utm_id, count(*) FROM urls WHERE utm_id IS NOT NULL GROUP BY 2, 3;
INSERT INTO utm_values (field, workspace_num, value, links) SELECT 'utm_source_platform', workspace_num, utm_source_platform, count(*) FROM urls WHERE utm_source_platform IS NOT NULL GROUP BY 2, 3;
-- A link of the previous release gets its workspace after it was inserted, and counts from then on.
-- +goose StatementBegin
CREATE TRIGGER urls_count_insert AFTER INSERT ON urls WHEN NEW.workspace_num IS NOT NULL BEGIN
	INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
	VALUES (NEW.workspace_num, CASE WHEN NEW.suspended_at IS NOT NULL THEN 3 WHEN NEW.exhausted_at IS NOT NULL THEN 2 WHEN NOT NEW.active THEN 1 ELSE 0 END, coalesce(NEW.expires_at / 3600000, -1), coalesce(NEW.starts_at / 3600000, -1), 1, NEW.click_count)
	ON CONFLICT DO UPDATE SET links = links + 1, clicks = clicks + excluded.clicks;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_count_first AFTER UPDATE OF workspace_num ON urls WHEN OLD.workspace_num IS NULL BEGIN
	INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
	VALUES (NEW.workspace_num, CASE WHEN NEW.suspended_at IS NOT NULL THEN 3 WHEN NEW.exhausted_at IS NOT NULL THEN 2 WHEN NOT NEW.active THEN 1 ELSE 0 END, coalesce(NEW.expires_at / 3600000, -1), coalesce(NEW.starts_at / 3600000, -1), 1, NEW.click_count)
	ON CONFLICT DO UPDATE SET links = links + 1, clicks = clicks + excluded.clicks;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_count_update AFTER UPDATE OF workspace_num, active, expires_at, starts_at, exhausted_at, suspended_at, click_count ON urls WHEN OLD.workspace_num IS NOT NULL AND (NEW.workspace_num IS NOT OLD.workspace_num OR NEW.active IS NOT OLD.active OR NEW.expires_at IS NOT OLD.expires_at OR NEW.starts_at IS NOT OLD.starts_at OR NEW.exhausted_at IS NOT OLD.exhausted_at OR NEW.suspended_at IS NOT OLD.suspended_at OR NEW.click_count IS NOT OLD.click_count) BEGIN
	UPDATE link_counts SET links = links - 1, clicks = clicks - OLD.click_count
		WHERE workspace_num = OLD.workspace_num AND state = CASE WHEN OLD.suspended_at IS NOT NULL THEN 3 WHEN OLD.exhausted_at IS NOT NULL THEN 2 WHEN NOT OLD.active THEN 1 ELSE 0 END
		AND expires_hour = coalesce(OLD.expires_at / 3600000, -1) AND starts_hour = coalesce(OLD.starts_at / 3600000, -1);
	DELETE FROM link_counts WHERE workspace_num = OLD.workspace_num AND state = CASE WHEN OLD.suspended_at IS NOT NULL THEN 3 WHEN OLD.exhausted_at IS NOT NULL THEN 2 WHEN NOT OLD.active THEN 1 ELSE 0 END
		AND expires_hour = coalesce(OLD.expires_at / 3600000, -1) AND starts_hour = coalesce(OLD.starts_at / 3600000, -1) AND links = 0;
	INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
	VALUES (NEW.workspace_num, CASE WHEN NEW.suspended_at IS NOT NULL THEN 3 WHEN NEW.exhausted_at IS NOT NULL THEN 2 WHEN NOT NEW.active THEN 1 ELSE 0 END, coalesce(NEW.expires_at / 3600000, -1), coalesce(NEW.starts_at / 3600000, -1), 1, NEW.click_count)
	ON CONFLICT DO UPDATE SET links = links + 1, clicks = clicks + excluded.clicks;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_count_delete AFTER DELETE ON urls WHEN TRUE BEGIN
	UPDATE link_counts SET links = links - 1, clicks = clicks - OLD.click_count
		WHERE workspace_num = OLD.workspace_num AND state = CASE WHEN OLD.suspended_at IS NOT NULL THEN 3 WHEN OLD.exhausted_at IS NOT NULL THEN 2 WHEN NOT OLD.active THEN 1 ELSE 0 END
		AND expires_hour = coalesce(OLD.expires_at / 3600000, -1) AND starts_hour = coalesce(OLD.starts_at / 3600000, -1);
	DELETE FROM link_counts WHERE workspace_num = OLD.workspace_num AND state = CASE WHEN OLD.suspended_at IS NOT NULL THEN 3 WHEN OLD.exhausted_at IS NOT NULL THEN 2 WHEN NOT OLD.active THEN 1 ELSE 0 END
		AND expires_hour = coalesce(OLD.expires_at / 3600000, -1) AND starts_hour = coalesce(OLD.starts_at / 3600000, -1) AND links = 0;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_utm_insert AFTER INSERT ON urls WHEN NEW.workspace_num IS NOT NULL AND coalesce(NEW.utm_source, NEW.utm_medium, NEW.utm_campaign, NEW.utm_term, NEW.utm_content, NEW.utm_id, NEW.utm_source_platform) IS NOT NULL BEGIN
	INSERT INTO utm_values (field, workspace_num, value, links)
	SELECT field, NEW.workspace_num, value, 1 FROM (SELECT 'utm_source' AS field, NEW.utm_source AS value UNION ALL SELECT 'utm_medium', NEW.utm_medium UNION ALL SELECT 'utm_campaign', NEW.utm_campaign UNION ALL SELECT 'utm_term', NEW.utm_term UNION ALL SELECT 'utm_content', NEW.utm_content UNION ALL SELECT 'utm_id', NEW.utm_id UNION ALL SELECT 'utm_source_platform', NEW.utm_source_platform) WHERE value IS NOT NULL
	ON CONFLICT DO UPDATE SET links = links + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_utm_first AFTER UPDATE OF workspace_num ON urls WHEN OLD.workspace_num IS NULL AND coalesce(NEW.utm_source, NEW.utm_medium, NEW.utm_campaign, NEW.utm_term, NEW.utm_content, NEW.utm_id, NEW.utm_source_platform) IS NOT NULL BEGIN
	INSERT INTO utm_values (field, workspace_num, value, links)
	SELECT field, NEW.workspace_num, value, 1 FROM (SELECT 'utm_source' AS field, NEW.utm_source AS value UNION ALL SELECT 'utm_medium', NEW.utm_medium UNION ALL SELECT 'utm_campaign', NEW.utm_campaign UNION ALL SELECT 'utm_term', NEW.utm_term UNION ALL SELECT 'utm_content', NEW.utm_content UNION ALL SELECT 'utm_id', NEW.utm_id UNION ALL SELECT 'utm_source_platform', NEW.utm_source_platform) WHERE value IS NOT NULL
	ON CONFLICT DO UPDATE SET links = links + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_utm_update AFTER UPDATE OF workspace_num, utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform ON urls WHEN OLD.workspace_num IS NOT NULL AND (NEW.workspace_num IS NOT OLD.workspace_num OR NEW.utm_source IS NOT OLD.utm_source OR NEW.utm_medium IS NOT OLD.utm_medium OR NEW.utm_campaign IS NOT OLD.utm_campaign OR NEW.utm_term IS NOT OLD.utm_term OR NEW.utm_content IS NOT OLD.utm_content OR NEW.utm_id IS NOT OLD.utm_id OR NEW.utm_source_platform IS NOT OLD.utm_source_platform) BEGIN
	UPDATE utm_values SET links = links - 1 WHERE workspace_num = OLD.workspace_num AND (field, value) IN (VALUES ('utm_source', OLD.utm_source), ('utm_medium', OLD.utm_medium), ('utm_campaign', OLD.utm_campaign), ('utm_term', OLD.utm_term), ('utm_content', OLD.utm_content), ('utm_id', OLD.utm_id), ('utm_source_platform', OLD.utm_source_platform));
	DELETE FROM utm_values WHERE workspace_num = OLD.workspace_num AND links = 0 AND (field, value) IN (VALUES ('utm_source', OLD.utm_source), ('utm_medium', OLD.utm_medium), ('utm_campaign', OLD.utm_campaign), ('utm_term', OLD.utm_term), ('utm_content', OLD.utm_content), ('utm_id', OLD.utm_id), ('utm_source_platform', OLD.utm_source_platform));
	INSERT INTO utm_values (field, workspace_num, value, links)
	SELECT field, NEW.workspace_num, value, 1 FROM (SELECT 'utm_source' AS field, NEW.utm_source AS value UNION ALL SELECT 'utm_medium', NEW.utm_medium UNION ALL SELECT 'utm_campaign', NEW.utm_campaign UNION ALL SELECT 'utm_term', NEW.utm_term UNION ALL SELECT 'utm_content', NEW.utm_content UNION ALL SELECT 'utm_id', NEW.utm_id UNION ALL SELECT 'utm_source_platform', NEW.utm_source_platform) WHERE value IS NOT NULL
	ON CONFLICT DO UPDATE SET links = links + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_utm_delete AFTER DELETE ON urls WHEN coalesce(OLD.utm_source, OLD.utm_medium, OLD.utm_campaign, OLD.utm_term, OLD.utm_content, OLD.utm_id, OLD.utm_source_platform) IS NOT NULL BEGIN
	UPDATE utm_values SET links = links - 1 WHERE workspace_num = OLD.workspace_num AND (field, value) IN (VALUES ('utm_source', OLD.utm_source), ('utm_medium', OLD.utm_medium), ('utm_campaign', OLD.utm_campaign), ('utm_term', OLD.utm_term), ('utm_content', OLD.utm_content), ('utm_id', OLD.utm_id), ('utm_source_platform', OLD.utm_source_platform));
	DELETE FROM utm_values WHERE workspace_num = OLD.workspace_num AND links = 0 AND (field, value) IN (VALUES ('utm_source', OLD.utm_source), ('utm_medium', OLD.utm_medium), ('utm_campaign', OLD.utm_campaign), ('utm_term', OLD.utm_term), ('utm_content', OLD.utm_content), ('utm_id', OLD.utm_id), ('utm_source_platform', OLD.utm_source_platform));
END;
-- +goose StatementEnd

-- The text of links by trigrams. Without positions (detail) the index is a third as large; the text itself stays in urls.
CREATE VIRTUAL TABLE urls_search USING fts5 (search_text, content = 'urls', content_rowid = 'num', tokenize = 'trigram', detail = 'none');
INSERT INTO urls_search (urls_search) VALUES ('rebuild');
-- +goose StatementBegin
CREATE TRIGGER urls_search_insert AFTER INSERT ON urls WHEN TRUE BEGIN
	INSERT INTO urls_search (rowid, search_text) VALUES (NEW.num, NEW.search_text);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_search_update AFTER UPDATE OF search_text ON urls WHEN NEW.search_text <> OLD.search_text BEGIN
	INSERT INTO urls_search (urls_search, rowid, search_text) VALUES ('delete', OLD.num, OLD.search_text);
	INSERT INTO urls_search (rowid, search_text) VALUES (NEW.num, NEW.search_text);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER urls_search_delete AFTER DELETE ON urls WHEN TRUE BEGIN
	INSERT INTO urls_search (urls_search, rowid, search_text) VALUES ('delete', OLD.num, OLD.search_text);
END;
-- +goose StatementEnd
