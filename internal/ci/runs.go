package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// run is a check that takes too long for every change. Its record says when it
// was last made, of which sources.
type run struct {
	name string
	what string
	// size is how much of it is usual, in unit.
	size int
	unit string
	// command has SIZE and COMMIT where they go.
	command string
	// covers are the packages that its verdict is about.
	covers []string
	// progress is the file beside the records that a run which can be resumed keeps; until it
	// has come to its end there need be no record.
	progress string
}

const slowTest = "go test -count=1 -tags=slow -v -timeout=3h "

// runs are the long runs. Each has a record in docs/results/runs.
func runs() []run {
	// What a question goes through from its configuration to its release.
	job := []string{".", "./config", "./internal/spec", "./internal/scan", "./internal/charging", "./internal/evaluation", "./evaluate/...", "./internal/dp/mechanism", "./internal/rl/value", "./rl/trajectory/..."}
	ledger := []string{"./dp/ledger/...", "./internal/dp/ledger/...", "./dp/receipt"}
	services := []string{"./internal/service/..."}
	shards := slices.Concat(job, []string{"./scale", "./internal/shards"})
	fleet := slices.Concat(services, []string{"./fleet/...", "./internal/fleet/...", "./train"})
	serve := slices.Concat(services, []string{"./serve/...", "./config", "./internal/spec", "./internal/scan", "./internal/charging", "./internal/evaluation"})
	return []run{
		{name: "kills", what: "processes killed while they charge, run, record and show, on each kind of store",
			size: 1000, unit: "kills", covers: ledger,
			command: slowTest + "-run=^TestKilledAtRandomMoments$ ./dp/ledger -disk -kills=SIZE"},
		{name: "fleet", what: "servers of a fleet, leaders among them, and their database killed while devices report and Prometheus watches, on each kind of store",
			size: 1000, unit: "kills", covers: fleet,
			command: slowTest + "-run=^TestKilledAtAnyMoment$ ./internal/fleet/aggregator -kills=SIZE"},
		{name: "soak", what: "20,000 devices that come, report and go: memory, goroutines, files and log of the server do not grow, and every report that was acknowledged counts",
			size: 30, unit: "minutes", covers: fleet,
			command: slowTest + "-run=^TestSoak$ ./internal/fleet/aggregator -minutes=SIZE"},
		{name: "curator-kills", what: "processes of the curator's service killed while asks come in and are answered, with Prometheus watching, and with a fault that stops the dataset at every tenth",
			size: 1000, unit: "kills", covers: slices.Concat(serve, ledger),
			command: slowTest + "-run=^TestKilledAtRandomMoments$ ./serve -kills=SIZE"},
		{name: "losses", what: "losses of the service: store, ledger, audit log, witness, policies or tokens lost, older, replaced, cut or copied, at rest and running",
			size: 60, unit: "cells", covers: slices.Concat(serve, ledger),
			command: slowTest + "-run=^TestEveryLoss$ ./serve"},
		{name: "mutants", what: "every seeded fault that is not recorded as killed, killed by the tests that name it",
			size: 2, unit: "at a time", progress: "killed.ndjson", covers: []string{".", "./dp/...", "./evaluate/...", "./fleet/...", "./internal/...", "./rl/...", "./scale", "./train/..."},
			command: slowTest + "-run=^TestEveryMutantIsKilled$ -parallel=SIZE ./internal/mutants -record"},
		{name: "replay", what: "pairs of logs a format, of which a record of one differs and no other may be read otherwise",
			size: 20_000, unit: "pairs", covers: []string{"./rl/trajectory/...", "./internal/parquet"},
			command: slowTest + "-run=^TestReaderReplayAtLength$ ./rl/trajectory/file -pairs=SIZE"},
		{name: "flink", what: "rounds of data in shards on Apache Flink, with a worker and drivers killed, beside one process",
			size: 265_000, unit: "persons, 38 rows each", covers: slices.Concat(shards, []string{"./beam", "./beam/flink"}),
			command: "go test -C beam -count=1 -tags=flink -v -timeout=2h -run=Flink|KilledInMid . -persons=SIZE"},
		{name: "spark", what: "rows of a DataFrame of Spark on two executors, of which one is lost, and an attempt is doubled, beside one process",
			size: 100_000, unit: "persons, 38 rows each", covers: slices.Concat(shards, []string{"./examples/spark", "./python/src/discreet"}),
			command: "go test -count=1 -tags=spark -v -timeout=2h -run=^TestSpark ./scale -spark-persons=SIZE"},
		{name: "shard-kills", what: "drivers of data in shards killed at random moments, with a ledger: no noisy sum is drawn twice",
			size: 500, unit: "kills", covers: slices.Concat(shards, ledger),
			command: slowTest + "-run=^TestDriversKilledAtRandomInstants$ ./scale -kills=SIZE"},
		{name: "papers", what: "trials of the papers' figures, added to docs/results/trials",
			size: 40, unit: "minutes", covers: []string{"./internal/papers/...", "./internal/rl/sim/...", "./evaluate/internal/...", "./train/simulate"},
			command: "go run ./cmd/discreet reproduce all --resume docs/results/trials --budget SIZEm --commit COMMIT"},
		{name: "python-peers", what: "the Python package against OBP, SCOPE-RL, Opacus, dp-accounting, OpenDP and diffprivlib, in environments of their own",
			size: 300, unit: "releases of a mean", covers: []string{"./internal/rl/value", "./evaluate/...", "./internal/dp/mechanism", "./dp/account/...", "./python/peers", "./python/src/discreet"},
			command: "python3 python/peers/run.py SIZE"},
		{name: "learning-peers", what: "what dp-learn gains without privacy, beside a policy tree and fitted Q iteration, on eight problems",
			size: 60, unit: "logs", covers: []string{"./evaluate"},
			command: "python3 evaluate/peers/run.py SIZE"},
		{name: "parquet-peers", what: "random tables of our Parquet writer, read by PyArrow, DuckDB and Polars in an environment of their own",
			size: 200, unit: "tables", covers: []string{"./internal/parquet"},
			command: "python3 internal/parquet/peers/run.py SIZE"},
		{name: "parquet-writers", what: "random Parquet files of PyArrow, DuckDB, Polars and fastparquet, read as PyArrow reads them or refused",
			size: 240, unit: "files", covers: []string{"./internal/parquet", "./rl/trajectory/...", "./internal/importing"},
			command: "python3 rl/trajectory/internal/parquetfile/peers/run.py SIZE"},
		{name: "schemathesis", what: "generated requests to the calls of the curator's service, by each role and by nobody, held against its OpenAPI description",
			size: 100, unit: "requests a call", covers: slices.Concat(serve, []string{"./serve/schemathesis"}),
			command: "python3 serve/schemathesis/run.py SIZE"},
		{name: "keycloak", what: "people who sign in to the curator's service by a real Keycloak, and call it with its tokens",
			size: 2, unit: "sign-ins of each person", covers: slices.Concat(serve, []string{"./serve/keycloak"}),
			command: "python3 serve/keycloak/run.py SIZE"},
		{name: "upgrade", what: "a ledger, a curator's service and a fleet of 0.1.0, built from its commit, that go on under this program",
			size: 3, unit: "releases", covers: slices.Concat(serve, ledger, fleet, []string{"./internal/cli"}),
			command: "bash deploy/upgrade.sh SIZE"},
	}
}

func runNamed(name string) (run, error) {
	var names []string
	for _, r := range runs() {
		if r.name == name {
			return r, nil
		}
		names = append(names, r.name)
	}
	return run{}, fmt.Errorf("no long run is called %q; there are %s", name, strings.Join(names, ", "))
}

// make runs the command and lets it print.
func (r run) make(ctx context.Context, commit string, out io.Writer) error {
	words := strings.Fields(strings.NewReplacer("SIZE", strconv.Itoa(r.size), "COMMIT", commit).Replace(r.command))
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return nil
}
