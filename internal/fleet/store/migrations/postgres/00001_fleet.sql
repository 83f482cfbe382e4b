CREATE TABLE fleet_run (
  id BYTEA PRIMARY KEY,
  created BIGINT NOT NULL,
  settings TEXT NOT NULL,
  version BIGINT NOT NULL,
  reports BIGINT NOT NULL,
  ended BOOLEAN NOT NULL,
  fence BIGINT NOT NULL DEFAULT 0,
  lease_until BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE fleet_spec (
  run BYTEA NOT NULL REFERENCES fleet_run (id),
  revision BIGINT NOT NULL,
  spec BYTEA NOT NULL,
  sign_key BIGINT NOT NULL,
  signature BYTEA NOT NULL,
  PRIMARY KEY (run, revision)
);
CREATE TABLE fleet_policy (
  run BYTEA NOT NULL REFERENCES fleet_run (id),
  version BIGINT NOT NULL,
  round BIGINT NOT NULL,
  weights BYTEA NOT NULL,
  optimizer TEXT NOT NULL,
  PRIMARY KEY (run, version)
);
CREATE TABLE fleet_round (
  run BYTEA NOT NULL REFERENCES fleet_run (id),
  id BIGINT NOT NULL,
  kind BIGINT NOT NULL,
  version BIGINT NOT NULL,
  spec BYTEA NOT NULL,
  sign_key BIGINT NOT NULL,
  signature BYTEA NOT NULL,
  state TEXT NOT NULL,
  upload_from BIGINT NOT NULL,
  upload_until BIGINT NOT NULL,
  accepted BIGINT NOT NULL DEFAULT 0,
  positive BIGINT NOT NULL DEFAULT 0,
  digest BYTEA,
  PRIMARY KEY (run, id)
);
CREATE INDEX fleet_round_state ON fleet_round (run, state);
-- No time, no peer, no device.
CREATE TABLE fleet_report (
  run BYTEA NOT NULL,
  round BIGINT NOT NULL,
  nullifier BYTEA NOT NULL,
  body BYTEA NOT NULL,
  PRIMARY KEY (run, round, nullifier)
);
CREATE TABLE fleet_certificate (
  serial BYTEA PRIMARY KEY,
  device BYTEA NOT NULL,
  expires BIGINT NOT NULL,
  revoked BOOLEAN NOT NULL
);
CREATE INDEX fleet_certificate_device ON fleet_certificate (device);
CREATE TABLE fleet_code (
  code BYTEA PRIMARY KEY,
  expires BIGINT NOT NULL,
  request BYTEA
);
