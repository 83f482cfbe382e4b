-- Visits of the OMOP common data model as decisions, by DuckDB: duckdb -c ".read decisions.sql", in
-- this directory. The decision of a visit is whether metformin (1503297) was begun; hba1c
-- (3004410) is the last value up to its day.
COPY (
  SELECT v.person_id, v.visit_start_date,
         CASE WHEN EXISTS (SELECT 1 FROM 'drug_exposure.csv' d WHERE d.visit_occurrence_id = v.visit_occurrence_id AND d.drug_concept_id = 1503297)
              THEN 'metformin' ELSE 'none' END AS drug,
         (SELECT arg_max(m.value_as_number, m.measurement_date) FROM 'measurement.csv' m WHERE m.person_id = v.person_id
                AND m.measurement_concept_id = 3004410 AND m.measurement_date <= v.visit_start_date) AS hba1c
  FROM 'visit_occurrence.csv' v
  ORDER BY v.visit_start_date, v.person_id
) TO 'decisions.csv' (HEADER);
