-- +goose Up
-- Programs of the previous release neither read nor write the new columns.

-- HMAC over the row's hash, and thereby over the chain up to the row. NULL: written by a program without a key or by
-- an older release.
ALTER TABLE audit_logs ADD COLUMN mac TEXT;

-- Identity of the token that the edge reports with; '' until a program that knows this column stores a report.
ALTER TABLE edge_reports ADD COLUMN token TEXT NOT NULL DEFAULT '';
