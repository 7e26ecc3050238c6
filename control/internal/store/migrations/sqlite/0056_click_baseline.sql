-- +goose Up
-- Clicks of a link that another service counted before the link moved here. No other figure contains them.
ALTER TABLE urls ADD COLUMN baseline_count BIGINT;
ALTER TABLE urls ADD COLUMN baseline_until BIGINT; -- when that service was asked; NULL: there is no baseline
ALTER TABLE urls ADD COLUMN baseline_source TEXT;  -- name of that service
