-- When the store was put back from a copy, in seconds since 1970. Permits that were drawn after the copy are not known: numbers of later
-- ones begin above all of them.
CREATE TABLE fleet_restored (
  at INTEGER PRIMARY KEY
);
