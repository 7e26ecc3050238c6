-- +goose Up
-- The oldest schema whose programs work with this schema. A migration that only adds keeps the number. A migration
-- that breaks older programs raises it to its own number.
CREATE TABLE schema_support (
	id     INTEGER PRIMARY KEY CHECK (id = 1),
	oldest BIGINT  NOT NULL
);
INSERT INTO schema_support (id, oldest) VALUES (1, 10);
