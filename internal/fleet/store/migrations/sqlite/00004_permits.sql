-- Permits that were drawn. A device has a place for each of its numbers, over all runs and in the run, and without the secret of
-- pseudonyms nobody knows which places are one device's: no number, no time, no device.
CREATE TABLE fleet_permit (
  place BLOB PRIMARY KEY,
  here BLOB NOT NULL UNIQUE,
  run BLOB NOT NULL,
  round INTEGER NOT NULL,
  request BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX fleet_permit_round ON fleet_permit (run, round);
-- How many devices have drawn so many permits of a run, or more.
CREATE TABLE fleet_drawn (
  run BLOB NOT NULL,
  number INTEGER NOT NULL,
  devices INTEGER NOT NULL,
  PRIMARY KEY (run, number)
);
