-- Checks of the data that failed, for the steward alone: in no chain, export or backup.
CREATE TABLE ledger_checks (
	dataset INTEGER NOT NULL REFERENCES ledger_datasets (id),
	id INTEGER NOT NULL,
	at TEXT NOT NULL,
	analyst TEXT NOT NULL,
	PRIMARY KEY (dataset, id)
) STRICT, WITHOUT ROWID;

-- down
DROP TABLE ledger_checks;
