"""The trial of ../pbc as a table of Spark whose rows are in no order, evaluated where it is.

    python table.py TRAJECTORIES.csv RUN

RUN is a new directory, which the run keeps its state in.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import rand

import discreet as dt


def main(path, run):
    spark = SparkSession.builder.appName("trial").getOrCreate()
    table = spark.read.csv(path, header=True, inferSchema=True).orderBy(rand())
    question = dt.Question(
        dt.logs(table, person="unit_id", behavior="design"),
        dt.policy.constant(1),
        persons=312,
        gamma=1,
        reward=(0, 1),
        returns=(0, 3),
        horizon=3,
        episodes=1,
        epsilon=1,
        delta=1e-5,
        adjacency="replace_one",
    )
    print(question.evaluate(run=run, partitions=4).summary())


if __name__ == "__main__":
    main(*sys.argv[1:])
