-- +goose Up
-- Programs of the previous release neither read nor write these columns. Their links have no start, no limit and no
-- suspension, and redirect with 302.
ALTER TABLE urls ADD COLUMN starts_at BIGINT;
ALTER TABLE urls ADD COLUMN expired_url TEXT;
ALTER TABLE urls ADD COLUMN redirect_code INTEGER; -- NULL: 302
ALTER TABLE urls ADD COLUMN max_clicks BIGINT;
ALTER TABLE urls ADD COLUMN limit_since BIGINT; -- when max_clicks was set on a link without a limit
ALTER TABLE urls ADD COLUMN limit_base BIGINT; -- clicks that were counted before limit_since
ALTER TABLE urls ADD COLUMN exhausted_at BIGINT; -- when the clicks of all edges reached the limit
ALTER TABLE urls ADD COLUMN external_id TEXT COLLATE "C";
ALTER TABLE urls ADD COLUMN suspended_at BIGINT;
ALTER TABLE urls ADD COLUMN suspended_reason TEXT;
CREATE UNIQUE INDEX urls_external_id ON urls (workspace_num, external_id) WHERE external_id IS NOT NULL;
