-- +goose Up
-- The oldest schema whose programs work with this one. A migration that only adds leaves it as it is; one that older
-- programs can't live with raises it to its own number.
CREATE TABLE schema_support (
	id     INTEGER PRIMARY KEY CHECK (id = 1),
	oldest BIGINT  NOT NULL
);
INSERT INTO schema_support (id, oldest) VALUES (1, 10);
