"""Times `discreet evaluate` beside DuckDB and polars on the same file.

    python compare_scale.py DISCREET DIR [EPISODES] [ROUNDS] [shapes|formats|memory]

DISCREET is the command; in DIR the script lets it simulate the chain, and DuckDB make other shapes
of data, where the files are not there. `formats` is dp-wis on the chain as Parquet and as CSV,
`shapes` every kind of question on every shape of data, as a table; both by default; `memory` the peaks of each method. The peers compute
the same statistic without privacy, on one thread (of shapes DuckDB, where it has one query for it).
Printed are CPU seconds (user and system; of the peers those of the query alone, of
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


WEIGHT = "product((case when action = 1 then {} else {} end) / behavior_prob)"


def wis(read, shares=(0.6,), by=""):
    """The query for the weighted mean towards policies that take action 1 with each of these shares."""
    weights = ", ".join(f"{WEIGHT.format(p, 1 - p)} as w{i}" for i, p in enumerate(shares))
    means = ", ".join(f"avg(w{i} * g) as n{i}, avg(w{i}) as d{i}" for i in range(len(shares)))
    value = ", ".join(f"sum(n{i}) / sum(d{i})" for i in range(len(shares)))
    return f"""
        with episodes as (select unit_id, {by} {weights}, sum(power(.99, step) * reward) as g
          from {read} group by {by} unit_id, episode_id),
        persons as (select {by} {means} from episodes group by {by} unit_id)
        select {value} from persons {'group by ' + by.rstrip(', ') if by else ''}"""


def counted(read):
    """The weighted mean where the share of each action in all data stands for its probability."""
    share = f"(select avg(action) from {read})"
    return wis(read).replace("behavior_prob", f"(case when action = 1 then {share} else 1 - {share} end)")


def first_visits(read):
    """The mean of the returns that follow the first visit of each state."""
    return f"""
        with later as (select unit_id, obs_state, step, sum(power(.99, step) * reward) over
          (partition by unit_id order by step desc) / power(.99, step) as g from {read}),
        firsts as (select obs_state, arg_min(g, step) as g from later group by unit_id, obs_state)
        select avg(g) from firsts group by obs_state"""


def moves(read):
    """The counts of what follows each action in each state."""
    return f"""
        with pairs as (select obs_state, action, reward, lead(obs_state) over (partition by unit_id order by step) as next from {read})
        select count(*), sum(reward) from pairs group by obs_state, action, next"""


def peer(engine, path, query=""):
    """One query in a process of its own: prints CPU seconds and peak memory."""
    name = str(path)
    if engine == "duckdb":
        import duckdb

        con = duckdb.connect()
        con.execute("set threads = 1")
        before = used(resource.RUSAGE_SELF)
        read = f"read_csv('{name}')" if name.endswith("csv") else f"read_parquet('{name}')"
        result = con.execute(query or wis(read)).fetchall()[0][0]
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
    return subprocess.Popen([command, "evaluate", "--json", str(config), *(["--set", f"data.path={path}"] if path else [])],
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
    answers = json.loads(text).get("answers") or [{}]
    return {"cpu": r.ru_utime + r.ru_stime, "peak": r.ru_maxrss / 1024, "wall": time.time() - start,
            "value": answers[0].get("estimate", {}).get("value")}


TABLE = "{kind: table, path: pi.csv, column: obs_state}"
TABULAR = "features: {kind: tabular, states: 40, column: obs_state}\n"
SYNTHETIC = """(hash(i) % 40)::double as obs_state, (hash(i + 1) % 2)::bigint as action, .5 as behavior_prob,
    (hash(i + 2) % 101) / 100.0 as reward"""

# Of each shape the SELECT that makes it, or one for each of several files.
MADE = {
    "shuffled-chain": "select * from 'chain.parquet' order by hash(episode_id, step)",
    "shuffled-ten": "select * from 'ten.parquet' order by hash(episode_id, step)",
    "shuffled-one": "select * from 'one.parquet' order by hash(episode_id)",
    "wide": "select *, (hash(unit_id) % 4)::double as obs_group, ((step * 7919 + obs_state * 31) % 1000) / 1000.0 as obs_x from 'chain.parquet'",
    "ten": f"select i // 10 as unit_id, i // 10 as episode_id, i % 10 as step, {SYNTHETIC}, i % 10 = 9 as terminated from range(ROWS) t(i)",
    "one": f"select i as unit_id, i as episode_id, 0 as step, {SYNTHETIC}, true as terminated from range(ROWS) t(i)",
    "uuid": "select * replace (md5(unit_id)::uuid::text as unit_id) from 'chain.parquet'",
    "random": """select * replace ((unit_id::bigint // 4)::text as unit_id) from 'chain.parquet' order by hash(episode_id), episode_id, step""",
    "interleaved": f"""select i // 100 as unit_id, i // 100 * 10 + i % 10 as episode_id, i // 10 % 10 as step, {SYNTHETIC},
        i // 10 % 10 = 9 as terminated from range(ROWS // 10) t(i)""",
}


def question(path, persons, more, horizon=400, behavior="{source: logged}"):
    return f"""data: {{path: {path}, behavior: {behavior}}}
problem: {{persons: {persons}, gamma: 0.99, reward: {{min: 0, max: 1}}, return: {{min: 0, max: 1}}, horizon: {horizon}}}
privacy: {{adjacency: replace_one, epsilon: 1, delta: 1.0e-8}}
{more}
"""


def shapes(episodes, rows):
    """By name: the configuration, and DuckDB's query."""
    of, dpwis = episodes, f"target: {TABLE}\nmethod: {{name: dp-wis, max_weight: 10}}"
    read = "read_parquet('chain.parquet')"
    five = "targets:\n" + "".join(f"  - {{name: p{k}, kind: table, path: pi{k}.csv, column: obs_state}}\n" for k in range(1, 5))
    tabular = f"target: {TABLE}\n{TABULAR}"
    return {
        "dp-wis": (question("chain.parquet", of, dpwis), wis(read)),
        "dp-wis, 10 rows a person, integer ids": (question("ten.parquet", rows // 10, dpwis, 10), wis("read_parquet('ten.parquet')")),
        "dp-wis, one row a person": (question("one.parquet", rows, dpwis, 1), wis("read_parquet('one.parquet')")),
        "dp-wis, ids of 36 characters": (question("uuid.parquet", of, dpwis), wis("read_parquet('uuid.parquet')")),
        "dp-wis, four episodes a person, in random order": (question("random.parquet", -(-of // 4), dpwis, 1600), wis("read_parquet('random.parquet')")),
        "dp-wis, ten episodes a person, interleaved, a tenth of the rows": (
            question("interleaved.parquet, steps: {sort: true}", -(-(rows // 10) // 100), dpwis, 100), wis("read_parquet('interleaved.parquet')")),
        "dp-wis, 16 files": (question("'part-*.parquet'", of, dpwis), wis("read_parquet('part-*.parquet')")),
        "dp-wis, 5 targets, a difference": (
            question("chain.parquet", of, five + "  - {name: old, kind: logged}\ncontrasts: [[p1, old]]\nmethod: {name: dp-wis, max_weight: 10}"),
            wis(read, (0.54, 0.58, 0.62, 0.66, 0.5))),
        "dp-wis, 4 groups": (
            question("wide.parquet", of, f"by: {{column: group, values: [0, 1, 2, 3], group: may_change}}\n{dpwis}"),
            wis("read_parquet('wide.parquet')", by="obs_group, ")),
        "dp-wis, estimated behaviour": (question("chain.parquet", of, dpwis, behavior="{kind: estimate, actions: 2, once: false}"), counted(read)),
        "dp-dr": (question("chain.parquet", of, f"{tabular}method: {{name: dp-dr, max_weight: 10}}"), None),
        "dp-fqe": (question("chain.parquet", of, f"{tabular}method: {{name: dp-fqe}}"), moves(read)),
        "dp-refine": (question("chain.parquet", of, f"{tabular}method: {{name: dp-refine}}"), None),
        "dp-lsw": (question("chain.parquet", of, f"target: {{kind: logged}}\n{TABULAR}method: {{name: dp-lsw}}"), first_visits(read)),
        "dp-distribution": (question("chain.parquet", of, f"target: {TABLE}\nmethod: {{name: dp-distribution}}"), None),
        "dp-learn": (question("chain.parquet", of, f"target: {{kind: learned, actions: 2}}\n{TABULAR}method: {{name: dp-learn}}"), None),
        "dp-refine, Fourier features of 2 columns": (question(
            "wide.parquet", of,
            f"target: {TABLE}\nfeatures: {{kind: fourier, order: 3, names: [obs_state, obs_x], low: [0, 0], high: [39, 1]}}\nmethod: {{name: dp-refine}}"), None),
    }


def make(directory, rows):
    import duckdb

    os.chdir(directory)
    con = duckdb.connect()
    for name, text in MADE.items():
        if not (directory / f"{name}.parquet").exists():
            con.execute(f"copy ({text.replace('ROWS', str(rows))}) to '{name}.parquet'")
    for k in range(16):
        if not (directory / f"part-{k:02}.parquet").exists():
            con.execute(f"copy (select * from 'chain.parquet' where hash(unit_id) % 16 = {k} order by unit_id::bigint, step) to 'part-{k:02}.parquet'")
    for k in range(1, 5):
        p = 0.5 + 0.04 * k
        (directory / f"pi{k}.csv").write_text(f"{1 - p:g},{p:g}\n" * 40)


def table(command, directory, episodes, rounds):
    """Every kind of question on every shape of data: ours on one processor and on two, and DuckDB's."""
    rows = 41 * episodes
    subprocess.run([sys.executable, __file__, "--make", directory, str(rows)], check=True)  # which takes memory
    print("| work | discreet, CPU s | MB | two processors, wall s | DuckDB, CPU s | MB |\n|---|---|---|---|---|---|")
    for name, (text, query) in shapes(episodes, rows).items():
        config = directory / "shape.yaml"
        config.write_text(text)
        found = {"one": [], "two": [], "duckdb": []}
        for _ in range(rounds):
            found["one"].append(ours(command, config, None, 1))
            found["two"].append(ours(command, config, None, 2))
            if query:
                out = subprocess.run([sys.executable, __file__, "--peer", "duckdb", "shape", query], check=True, capture_output=True, text=True, cwd=directory)
                found["duckdb"].append(json.loads(out.stdout))
        least = {k: {key: min(r[key] for r in runs) for key in ("cpu", "peak", "wall") if key in runs[0]} for k, runs in found.items() if runs}
        theirs = f"{least['duckdb']['cpu']:.2f} | {least['duckdb']['peak']:.0f}" if query else "|"
        print(f"| {name} | {least['one']['cpu']:.2f} | {least['one']['peak']:.0f} | {least['two']['wall']:.2f} | {theirs} |", flush=True)


def memory(command, directory, episodes):
    """The peak of each method where persons have about 41 rows, 10 and 1."""
    rows = 41 * episodes
    subprocess.run([sys.executable, __file__, "--make", directory, str(rows)], check=True)
    ours_of = {name: f"target: {TABLE}\n{TABULAR}" for name in ("dp-dr", "dp-fqe", "dp-refine", "gpope")}
    ours_of |= {name: f"target: {TABLE}\n" for name in ("dp-is", "dp-pdis", "dp-wis", "dp-distribution")}
    ours_of |= {name: f"target: {{kind: logged}}\n{TABULAR}" for name in ("dp-lsw", "dp-lsl")}
    ours_of["dp-learn"] = f"target: {{kind: learned, actions: 2}}\n{TABULAR}"
    ours_of["dp-wis, sort: true"] = ours_of["dp-wis"]
    for name, text in ours_of.items():
        peaks = []
        name, _, order = name.partition(", ")
        for path, persons, horizon in (("chain", episodes, 400), ("ten", rows // 10, 10), ("one", rows, 1)):
            if order:
                path = f"shuffled-{path}"
            (directory / "shape.yaml").write_text(question(f"{path}.parquet" + (f", steps: {{{order}}}" if order else ""), persons, f"{text}method: {{name: {name}}}", horizon))
            peaks.append(ours(command, directory / "shape.yaml", None, 2)["peak"])
        print(f"| {name} {order} | " + " | ".join(f"{p:.0f}" for p in peaks) + " |", flush=True)


def main(command, directory, episodes=244200, rounds=3, what=""):
    command, directory, episodes = pathlib.Path(command).resolve(), pathlib.Path(directory).resolve(), int(episodes)
    directory.mkdir(parents=True, exist_ok=True)
    files = {kind: directory / f"chain.{kind}" for kind in ("parquet", "csv")}
    for path in files.values():
        if not path.exists():
            subprocess.run([command, "simulate", "chain", "--episodes", str(episodes), "--seed", "1", "-o", path], check=True)
    (directory / "pi.csv").write_text("0.4,0.6\n" * 40)
    if what == "memory":
        return memory(command, directory, episodes)
    if what != "shapes":
        formats(command, directory, files, episodes, int(rounds))
    if what != "formats":
        table(command, directory, episodes, int(rounds))
    print("load", *os.getloadavg(), "(wall times count only where it was below 1 before the run)")


def formats(command, directory, files, episodes, rounds):
    """The chain as Parquet and as CSV."""
    config = directory / "wis.yaml"
    config.write_text(question("chain.parquet", episodes, f"target: {TABLE}\nmethod: {{name: dp-wis, max_weight: 10}}"))
    found = {}
    for _ in range(rounds):
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


if __name__ == "__main__":
    if sys.argv[1] == "--peer":
        peer(*sys.argv[2:])
    elif sys.argv[1] == "--make":
        make(pathlib.Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(*sys.argv[1:])
