-- +goose Up
-- Wrong guesses at passwords of links, at all edges together. A change of any takes the next mark, which is also the
-- turn of whoever changes them: marks commit in order.
CREATE TABLE guess_head (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	mark BIGINT  NOT NULL
);
INSERT INTO guess_head (id, mark) VALUES (1, 0);

CREATE TABLE guesses (
	link      BIGINT  NOT NULL, -- its number
	client    TEXT    NOT NULL, -- an IPv4 address, or the first address of an IPv6 /64
	count     INTEGER NOT NULL, -- 0: the client knew the password
	last_at   BIGINT  NOT NULL,
	forget_at BIGINT  NOT NULL, -- the row goes
	mark      BIGINT  NOT NULL,
	PRIMARY KEY (link, client)
);
CREATE INDEX guesses_mark ON guesses (mark);
CREATE INDEX guesses_forget ON guesses (forget_at);
