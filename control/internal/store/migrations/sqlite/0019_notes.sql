-- +goose Up
-- Programs of the release before neither read nor write the new column.
ALTER TABLE urls ADD COLUMN notes TEXT;
