"""A round of `discreet evaluate --shards ... --on exec` on Spark.

    --command 'spark-submit examples/spark/round.py'

Spark hands out the shards, one a task; an executor answers for each by `discreet partial`, and the
masked partials come back to Spark's driver, which leaves them in $OUT. Executors need the
program, the shards under the paths of $SHARDS, and the run key in DISCREET_RUN_KEY or the file
of DISCREET_RUN_KEY_FILE. The task travels with the job; nothing in it is private.
"""

import os
import pathlib
import subprocess
import tempfile

import pyarrow
from pyspark.sql import SparkSession


def answers(task):
    """What an executor does with a batch of shards; Spark runs it again where it fails."""

    def answer(batches):
        for batch in batches:
            for number, shard in zip(batch.column("number").to_pylist(), batch.column("shard").to_pylist()):
                with tempfile.TemporaryDirectory() as directory:
                    question, part = pathlib.Path(directory, "task.json"), pathlib.Path(directory, "part")
                    question.write_bytes(task)
                    run = subprocess.run(["discreet", "partial", question, shard, "-o", part], stderr=subprocess.PIPE)
                    if run.returncode:
                        raise RuntimeError(f"shard {shard}: exit code {run.returncode}: {run.stderr.decode()}")
                    yield pyarrow.RecordBatch.from_pydict({"number": [number], "part": [part.read_bytes()]})

    return answer


def main():
    task = pathlib.Path(os.environ["TASK"]).read_bytes()
    shards = pathlib.Path(os.environ["SHARDS"]).read_text().splitlines()
    spark = SparkSession.builder.appName(f"discreet round {os.environ['ROUND']}").getOrCreate()
    try:
        rows = spark.sparkContext.parallelize(list(enumerate(shards)), len(shards)).toDF("number long, shard string")
        for row in rows.mapInArrow(answers(task), "number long, part binary").collect():
            pathlib.Path(os.environ["OUT"], f"{row.number}.part").write_bytes(row.part)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
