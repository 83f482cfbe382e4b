-- Permits that were drawn. A device has a place for each of its numbers, over all runs and in the run, and without the secret of
-- pseudonyms nobody knows which places are one device's: no number, no time, no device.
CREATE TABLE fleet_permit (
  place BYTEA PRIMARY KEY,
  here BYTEA NOT NULL UNIQUE,
  run BYTEA NOT NULL,
  round BIGINT NOT NULL,
  request BYTEA NOT NULL
);
CREATE INDEX fleet_permit_round ON fleet_permit (run, round);
-- How many devices have drawn so many permits of a run, or more.
CREATE TABLE fleet_drawn (
  run BYTEA NOT NULL,
  number BIGINT NOT NULL,
  devices BIGINT NOT NULL,
  PRIMARY KEY (run, number)
);
