-- +goose Up
-- Programs of the release before neither read nor write the new columns.

-- An HMAC over the row's hash, and with it over the whole chain up to the row. NULL: written by a program that knows
-- of none, or that had no key.
ALTER TABLE audit_logs ADD COLUMN mac TEXT;

-- Whose token the edge's reports come with; '' until one came through a program that notes it.
ALTER TABLE edge_reports ADD COLUMN token TEXT NOT NULL DEFAULT '';
