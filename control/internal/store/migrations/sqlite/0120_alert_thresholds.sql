-- +goose Up
-- What a rule takes for unusual clicks, and when a link is nearly exhausted. The defaults are what held for all rules before.
ALTER TABLE alert_rules ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'; -- JSON: names; only links with one of them
ALTER TABLE alert_rules ADD COLUMN sensitivity TEXT NOT NULL DEFAULT 'normal'; -- low, normal or high
ALTER TABLE alert_rules ADD COLUMN direction TEXT NOT NULL DEFAULT 'both'; -- both, above or below
ALTER TABLE alert_rules ADD COLUMN min_rise INTEGER NOT NULL DEFAULT 100; -- per cent above the expected clicks
ALTER TABLE alert_rules ADD COLUMN min_fall INTEGER NOT NULL DEFAULT 50; -- per cent below the expected clicks
ALTER TABLE alert_rules ADD COLUMN min_clicks BIGINT NOT NULL DEFAULT 20; -- above or below the expected clicks
ALTER TABLE alert_rules ADD COLUMN exhaustion INTEGER NOT NULL DEFAULT 90; -- per cent of the clicks that a link may have
