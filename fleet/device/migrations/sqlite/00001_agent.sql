-- Who the device is. debited is what its wallet has paid at least, so that an older copy of the wallet is noticed.
CREATE TABLE agent_identity (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	key BLOB NOT NULL,
	chain BLOB,
	pseudonym BLOB,
	next_key BLOB,
	wallet INTEGER NOT NULL DEFAULT 0,
	debited REAL NOT NULL DEFAULT 0
) STRICT;

-- The runs that were met: the hash of the first spec, and the last round that is known.
CREATE TABLE agent_run (
	run BLOB PRIMARY KEY,
	first BLOB NOT NULL,
	revision INTEGER NOT NULL,
	round INTEGER NOT NULL,
	head BLOB NOT NULL
) STRICT;

-- The rounds that were met. What is private, the vector, goes when the report is kept.
CREATE TABLE agent_round (
	run BLOB NOT NULL,
	round INTEGER NOT NULL,
	previous BLOB NOT NULL,
	spec BLOB NOT NULL,
	key INTEGER NOT NULL,
	signature BLOB NOT NULL,
	state TEXT NOT NULL,
	reason TEXT NOT NULL DEFAULT '',
	send_at INTEGER NOT NULL DEFAULT 0,
	weights BLOB,
	vector BLOB,
	upload BLOB,
	PRIMARY KEY (run, round)
) STRICT;
