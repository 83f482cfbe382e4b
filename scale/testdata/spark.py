"""Rounds over rows of a DataFrame, as lines of standard input ask; a line answers each.

spark.py DIR MASTER CONF...: DIR has sorted.parquet; left there are unsorted rows, the same rows sorted as an Arrow
stream, and the question.
"""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.functions import rand

import discreet
from discreet._spark import Rounds

place, master, *confs = sys.argv[1:]
builder = SparkSession.builder.master(master).appName("rows")
for conf in confs:
    builder = builder.config(*conf.split("=", 1))
spark = builder.getOrCreate()
spark.read.parquet(f"{place}/sorted.parquet").orderBy(rand(7)).repartition(4).write.parquet(f"{place}/rows")
table = pq.read_table(f"{place}/sorted.parquet").sort_by([(c, "ascending") for c in ("unit_id", "episode_id", "step")])
with pa.ipc.new_stream(f"{place}/sorted.arrow", table.schema) as out:
    out.write_table(table, max_chunksize=1 << 16)
logs = discreet.logs(spark.read.parquet(f"{place}/rows"), person="unit_id", behavior={"kind": "estimate", "actions": 2, "once": False})
question = discreet.Question(
    logs,
    discreet.policy.constant(1),
    method="dp-wis",
    features={"kind": "tabular", "states": 40, "column": "obs_state"},
    gamma=0.99,
    reward=(0, 1),
    returns=(0, 1),
    horizon=60,
    persons=len(table.column("unit_id").unique()),
    epsilon=2.0,
    delta=1e-6,
    adjacency="replace_one",
)
question.write(Path(place, "q.json"))
rounds = Rounds(question)
print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps(rounds(json.loads(line), b"")[0]), flush=True)
spark.stop()
