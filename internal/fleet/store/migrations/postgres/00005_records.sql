-- What rounds came to, as their records say, with the sum and the hashes of the reports and the places of the permits.
CREATE TABLE fleet_record (
  run BYTEA NOT NULL,
  round BIGINT NOT NULL,
  record BYTEA NOT NULL,
  sign_key BIGINT NOT NULL,
  signature BYTEA NOT NULL,
  sum BYTEA NOT NULL,
  hashes BYTEA NOT NULL,
  permits BYTEA NOT NULL,
  PRIMARY KEY (run, round)
);
