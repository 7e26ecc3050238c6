-- +goose Up
-- The provider sends no email_verified, and its administrators say that its addresses are right, within email_domains.
ALTER TABLE oidc_providers ADD COLUMN trust_email BOOLEAN NOT NULL DEFAULT FALSE;
