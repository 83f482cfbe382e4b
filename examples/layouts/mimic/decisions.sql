-- Stays of MIMIC as decisions, by DuckDB: duckdb -c ".read decisions.sql", in this directory. A
-- decision is a period of four hours since admission to the unit, of which the first two count;
-- lactate is the last value before it.
COPY (
  SELECT s.subject_id, s.hadm_id, s.intime + INTERVAL (4 * p.n) HOUR AS charttime,
         CASE WHEN EXISTS (SELECT 1 FROM 'inputevents.csv' i WHERE i.stay_id = s.stay_id AND i.itemid = 221906
                AND i.starttime >= s.intime + INTERVAL (4 * p.n) HOUR AND i.starttime < s.intime + INTERVAL (4 * p.n + 4) HOUR)
              THEN 'norepinephrine' ELSE 'none' END AS vasopressor,
         (SELECT arg_max(c.valuenum, c.charttime) FROM 'chartevents.csv' c WHERE c.stay_id = s.stay_id AND c.itemid = 225668
                AND c.charttime <= s.intime + INTERVAL (4 * p.n) HOUR) AS lactate
  FROM 'icustays.csv' s CROSS JOIN (VALUES (0), (1)) p(n)
  ORDER BY charttime, s.hadm_id
) TO 'decisions.csv' (HEADER, TIMESTAMPFORMAT '%Y-%m-%d %H:%M:%S');
