-- +goose Up
-- Programs of the previous release neither read nor write the new column.
ALTER TABLE urls ADD COLUMN notes TEXT;
