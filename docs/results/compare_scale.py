"""Times `discreet evaluate` with dp-wis beside DuckDB and polars on the same file.

    python compare_scale.py DISCREET DIR [EPISODES] [ROUNDS]

DISCREET is the command; in DIR the script lets it simulate the chain, as Parquet and as CSV, where
the files are not there. The peers compute the same weighted importance sampling without privacy, on
one thread. Printed are CPU seconds (user and system; of the peers those of the query alone, of
discreet those of the whole process), the least of all rounds, and the peak of resident memory. CPU
seconds are little disturbed by other work on the machine; wall time is, and is printed for runs of
discreet on one and on two processors alone. What two processors can gain on this machine is told by
two copies of discreet at one time, with a processor each, which have nothing to wait for but memory.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import time


def peer(engine, path):
    """One query in a process of its own: prints CPU seconds and peak memory."""
    name = str(path)
    if engine == "duckdb":
        import duckdb

        con = duckdb.connect()
        con.execute("set threads = 1")
        before = used(resource.RUSAGE_SELF)
        read = f"read_parquet('{name}')" if name.endswith("parquet") else f"read_csv('{name}')"
        result = con.execute(f"""
            with episodes as (
              select unit_id, product((case when action = 1 then .6 else .4 end) / behavior_prob) as w,
                     sum(power(.99, step) * reward) as g
              from {read} group by unit_id, episode_id),
            persons as (select avg(w * g) as n, avg(w) as d from episodes group by unit_id)
            select sum(n) / sum(d) from persons""").fetchone()[0]
    else:
        os.environ["POLARS_MAX_THREADS"] = "1"
        import polars as pl

        before = used(resource.RUSAGE_SELF)
        rows = pl.scan_parquet(name) if name.endswith("parquet") else pl.scan_csv(name)
        ratio = pl.when(pl.col("action") == 1).then(0.6).otherwise(0.4) / pl.col("behavior_prob")
        value = pl.lit(0.99).pow(pl.col("step")) * pl.col("reward")
        episodes = rows.group_by("unit_id", "episode_id").agg(ratio.product().alias("w"), value.sum().alias("g"))
        persons = episodes.group_by("unit_id").agg(
            (pl.col("w") * pl.col("g")).mean().alias("n"), pl.col("w").mean().alias("d"))
        result = persons.select(pl.col("n").sum() / pl.col("d").sum()).collect(engine="streaming").item()
    cpu = used(resource.RUSAGE_SELF) - before
    print(json.dumps({"cpu": cpu, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "value": result}))


def used(who):
    r = resource.getrusage(who)
    return r.ru_utime + r.ru_stime


def begun(command, config, path, processors):
    return subprocess.Popen([command, "evaluate", "--json", str(config), "--set", f"data.path={path}"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            env=dict(os.environ, GOMAXPROCS=str(processors)))


def copies(command, config, path):
    """Two copies at one time, a processor each: seconds until both have ended, and CPU seconds of one."""
    start, before = time.time(), used(resource.RUSAGE_CHILDREN)
    both = [begun(command, config, path, 1) for _ in range(2)]
    for process in both:
        process.communicate()
        if process.returncode:
            sys.exit("discreet failed")
    return {"cpu": (used(resource.RUSAGE_CHILDREN) - before) / 2, "wall": time.time() - start}


def ours(command, config, path, processors):
    start = time.time()
    process = begun(command, config, path, processors)
    text = process.stdout.read()
    _, status, r = os.wait4(process.pid, 0)
    if status:
        sys.exit("discreet failed")
    return {"cpu": r.ru_utime + r.ru_stime, "peak": r.ru_maxrss / 1024, "wall": time.time() - start,
            "value": json.loads(text)["answers"][0]["estimate"]["value"]}


def main(command, directory, episodes=244200, rounds=3):
    directory, episodes = pathlib.Path(directory).resolve(), int(episodes)
    directory.mkdir(parents=True, exist_ok=True)
    files = {kind: directory / f"chain.{kind}" for kind in ("parquet", "csv")}
    for path in files.values():
        if not path.exists():
            subprocess.run([command, "simulate", "chain", "--episodes", str(episodes), "--seed", "1", "-o", path], check=True)
    (directory / "pi.csv").write_text("0.4,0.6\n" * 40)
    config = directory / "wis.yaml"
    config.write_text(f"""data: {{path: chain.parquet, behavior: {{source: logged}}}}
problem: {{persons: {episodes}, gamma: 0.99, reward: {{min: 0, max: 1}}, return: {{min: 0, max: 1}}, horizon: 400}}
target: {{kind: table, path: pi.csv, column: obs_state}}
method: {{name: dp-wis, max_weight: 10}}
privacy: {{adjacency: replace_one, epsilon: 1, delta: 1.0e-6}}
""")
    found = {}
    for _ in range(int(rounds)):
        for kind, path in files.items():
            for processors in (1, 2):
                found.setdefault((kind, f"discreet, {processors}"), []).append(ours(command, config, path, processors))
            found.setdefault((kind, "two copies"), []).append(copies(command, config, path))
            for engine in ("duckdb", "polars"):
                out = subprocess.run([sys.executable, __file__, "--peer", engine, path], check=True, capture_output=True, text=True)
                found.setdefault((kind, engine), []).append(json.loads(out.stdout))
    for (kind, name), runs in found.items():
        least = {key: min(r[key] for r in runs) for key in runs[0] if key != "value"}
        value = f"value {runs[0]['value']:.5f}" if "value" in runs[0] else ""
        print(kind, name, " ".join(f"{key} {least[key]:.2f}" for key in least), value, sep="\t")
    for kind in files:
        one, two = (min(r["wall"] for r in found[kind, f"discreet, {processors}"]) for processors in (1, 2))
        both = min(r["wall"] for r in found[kind, "two copies"])
        print(kind, f"two processors {one / two:.2f} times as fast as one, by the wall; two copies at one time do {2 * one / both:.2f} times as much as one", sep="\t")
    print("load", *os.getloadavg(), "(wall times count only where it was below 1 before the run)")


if __name__ == "__main__":
    if sys.argv[1] == "--peer":
        peer(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
