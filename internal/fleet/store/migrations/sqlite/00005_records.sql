-- What rounds came to, as their records say, with the sum and the hashes of the reports and the places of the permits.
CREATE TABLE fleet_record (
  run BLOB NOT NULL,
  round INTEGER NOT NULL,
  record BLOB NOT NULL,
  sign_key INTEGER NOT NULL,
  signature BLOB NOT NULL,
  sum BLOB NOT NULL,
  hashes BLOB NOT NULL,
  permits BLOB NOT NULL,
  PRIMARY KEY (run, round)
) WITHOUT ROWID;
