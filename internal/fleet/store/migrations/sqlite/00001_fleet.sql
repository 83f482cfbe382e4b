CREATE TABLE fleet_run (
  id BLOB PRIMARY KEY,
  created INTEGER NOT NULL,
  settings TEXT NOT NULL,
  version INTEGER NOT NULL,
  reports INTEGER NOT NULL,
  ended BOOLEAN NOT NULL,
  fence INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE fleet_spec (
  run BLOB NOT NULL REFERENCES fleet_run (id),
  revision INTEGER NOT NULL,
  spec BLOB NOT NULL,
  sign_key INTEGER NOT NULL,
  signature BLOB NOT NULL,
  PRIMARY KEY (run, revision)
);
CREATE TABLE fleet_policy (
  run BLOB NOT NULL REFERENCES fleet_run (id),
  version INTEGER NOT NULL,
  round INTEGER NOT NULL,
  weights BLOB NOT NULL,
  optimizer TEXT NOT NULL,
  PRIMARY KEY (run, version)
);
CREATE TABLE fleet_round (
  run BLOB NOT NULL REFERENCES fleet_run (id),
  id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  version INTEGER NOT NULL,
  spec BLOB NOT NULL,
  sign_key INTEGER NOT NULL,
  signature BLOB NOT NULL,
  state TEXT NOT NULL,
  upload_from INTEGER NOT NULL,
  upload_until INTEGER NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0,
  positive INTEGER NOT NULL DEFAULT 0,
  digest BLOB,
  PRIMARY KEY (run, id)
);
CREATE INDEX fleet_round_state ON fleet_round (run, state);
-- No time, no peer, no device.
CREATE TABLE fleet_report (
  run BLOB NOT NULL,
  round INTEGER NOT NULL,
  nullifier BLOB NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, round, nullifier)
) WITHOUT ROWID;
CREATE TABLE fleet_certificate (
  serial BLOB PRIMARY KEY,
  device BLOB NOT NULL,
  expires INTEGER NOT NULL,
  revoked BOOLEAN NOT NULL
);
CREATE INDEX fleet_certificate_device ON fleet_certificate (device);
CREATE TABLE fleet_code (
  code BLOB PRIMARY KEY,
  expires INTEGER NOT NULL,
  request BLOB
);
