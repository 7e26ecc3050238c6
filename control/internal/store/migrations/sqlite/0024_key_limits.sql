-- +goose Up
-- Programs of the previous release neither read nor write these columns. They refuse keys with a checksum, because such a
-- key is one character shorter, so limits hold at these programs too. Rows that they insert are legacy keys.
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT ''; -- names, separated by spaces; '': no limit
ALTER TABLE api_keys ADD COLUMN allowed_ips TEXT NOT NULL DEFAULT ''; -- networks, separated by spaces; '': no limit
ALTER TABLE api_keys ADD COLUMN last_used_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN checksummed BOOLEAN NOT NULL DEFAULT FALSE; -- FALSE: made by a release before checksums
