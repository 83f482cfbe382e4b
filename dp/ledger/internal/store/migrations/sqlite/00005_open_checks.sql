-- The check of the data that was begun last and is not paid: the same question about the same
-- data goes on with it. The two are a keyed hash here, for the steward alone, as checks are.
CREATE TABLE ledger_open_checks (
	dataset INTEGER NOT NULL PRIMARY KEY REFERENCES ledger_datasets (id),
	id INTEGER NOT NULL,
	asked TEXT NOT NULL
) STRICT;

-- down
DROP TABLE ledger_open_checks;
