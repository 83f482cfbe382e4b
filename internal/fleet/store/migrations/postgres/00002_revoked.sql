-- Devices that were revoked. Rows of certificates go when these expire, and codes may be good for longer: these rows stay.
CREATE TABLE fleet_revoked (
  device BYTEA PRIMARY KEY
);
INSERT INTO fleet_revoked (device) SELECT DISTINCT device FROM fleet_certificate WHERE revoked;
