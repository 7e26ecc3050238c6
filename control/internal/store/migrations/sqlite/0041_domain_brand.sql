-- +goose Up
-- The brand on a domain's pages for visitors. Programs of the previous release leave the columns empty.
ALTER TABLE domains ADD COLUMN brand_name TEXT;
ALTER TABLE domains ADD COLUMN brand_logo_url TEXT;
