-- +goose Up
-- Failed attempts at link passwords at all edges. Every change takes the next mark and thereby a lock, so marks
-- commit in order.
CREATE TABLE guess_head (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	mark BIGINT  NOT NULL
);
INSERT INTO guess_head (id, mark) VALUES (1, 0);

CREATE TABLE guesses (
	link      BIGINT  NOT NULL, -- number of the link
	client    TEXT    NOT NULL, -- an IPv4 address, or the first address of an IPv6 /64
	count     INTEGER NOT NULL, -- 0: the client entered the correct password
	last_at   BIGINT  NOT NULL,
	forget_at BIGINT  NOT NULL, -- when the row is deleted
	mark      BIGINT  NOT NULL,
	PRIMARY KEY (link, client)
);
CREATE INDEX guesses_mark ON guesses (mark);
CREATE INDEX guesses_forget ON guesses (forget_at);
