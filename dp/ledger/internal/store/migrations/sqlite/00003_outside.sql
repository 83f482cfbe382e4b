-- What the steward keeps beside the chain: the witnesses of its head, and a sketch
-- of who is in the data. Neither leaves in a backup or an export.
CREATE TABLE ledger_witnesses (
	dataset INTEGER NOT NULL REFERENCES ledger_datasets (id),
	place TEXT NOT NULL,
	PRIMARY KEY (dataset, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_sketches (
	dataset INTEGER NOT NULL PRIMARY KEY REFERENCES ledger_datasets (id),
	body BLOB NOT NULL
) STRICT;

-- down
DROP TABLE ledger_sketches;
DROP TABLE ledger_witnesses;
