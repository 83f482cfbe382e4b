package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
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
	// covers are the packages that its verdict is about.
	covers []string
	make   func(ctx context.Context, size int) error
}

// runs are the long runs. Each has a record in docs/results/runs.
func runs() []run {
	return []run{
		{"kills", "processes killed while they charge, run, record and show, on each kind of store", 1000, "kills",
			[]string{"./dp/ledger/...", "./internal/dp/ledger/..."}, func(ctx context.Context, size int) error {
				return goRun(ctx, "test", "-count=1", "-tags=slow", "-timeout=3h", "-run=^TestKilledAtRandomMoments$", "./dp/ledger", "-disk", "-kills="+strconv.Itoa(size))
			}},
		{"fleet", "servers of a fleet, leaders among them, and their database killed while devices report, on each kind of store", 1000, "kills",
			[]string{"./fleet/...", "./internal/fleet/..."}, func(ctx context.Context, size int) error {
				return goRun(ctx, "test", "-count=1", "-tags=slow", "-timeout=3h", "-run=^TestKilledAtAnyMoment$", "./internal/fleet/aggregator", "-kills="+strconv.Itoa(size))
			}},
		{"soak", "20,000 devices that come, report and go: memory, goroutines, files and log of the server do not grow, and every report that was acknowledged counts", 30, "minutes",
			[]string{"./internal/fleet", "./internal/fleet/aggregator", "./internal/fleet/store", "./internal/service"}, func(ctx context.Context, size int) error {
				return goRun(ctx, "test", "-count=1", "-tags=slow", "-timeout=3h", "-v", "-run=^TestSoak$", "./internal/fleet/aggregator", "-minutes="+strconv.Itoa(size))
			}},
		{"curator-kills", "processes of the curator's service killed while asks come in and are answered", 500, "kills",
			[]string{"./serve", "./serve/internal/asks"}, func(ctx context.Context, size int) error {
				return goRun(ctx, "test", "-count=1", "-tags=slow", "-timeout=3h", "-run=^TestKilledAtRandomMoments$", "./serve", "-v", "-kills="+strconv.Itoa(size))
			}},
		{"replay", "pairs of logs a format, of which a record of one differs and no other may be read otherwise", 20_000, "pairs",
			[]string{"./rl/trajectory/file", "./rl/trajectory/internal/ingest"}, func(ctx context.Context, size int) error {
				return goRun(ctx, "test", "-count=1", "-tags=slow", "-timeout=3h", "-run=^TestReaderReplayAtLength$", "./rl/trajectory/file", "-pairs="+strconv.Itoa(size))
			}},
		{"flink", "rounds of data in shards on Apache Flink, with a worker and drivers killed, beside one process", 265_000, "persons, 38 rows each",
			[]string{"./scale", "./beam", "./beam/flink"}, func(ctx context.Context, size int) error {
				return goRun(ctx, "test", "-C", "beam", "-count=1", "-tags=flink", "-v", "-timeout=2h", "-run=Flink|KilledInMid", ".", "-persons="+strconv.Itoa(size))
			}},
		{"spark", "a round of data in shards on Spark in local mode, of which one task is killed, beside one process", 100_000, "persons, 38 rows each",
			[]string{"./scale", "./examples/spark"}, func(ctx context.Context, size int) error {
				return goRun(ctx, "test", "-count=1", "-tags=spark", "-v", "-timeout=2h", "-run=^TestSpark", "./scale", "-spark-persons="+strconv.Itoa(size))
			}},
		{"shard-kills", "drivers of data in shards killed at random moments, with a ledger: no noisy sum is drawn twice", 500, "kills",
			[]string{"./scale"}, func(ctx context.Context, size int) error {
				return goRun(ctx, "test", "-count=1", "-tags=slow", "-v", "-timeout=3h", "-run=^TestDriversKilledAtRandomInstants$", "./scale", "-kills="+strconv.Itoa(size))
			}},
		{"papers", "trials of the papers' figures, added to docs/results/trials", 40, "minutes",
			[]string{"./internal/papers/..."}, addTrials},
		{"python-peers", "the Python package against OBP, SCOPE-RL, Opacus, dp-accounting, OpenDP and diffprivlib, in environments of their own", 300, "releases of a mean",
			[]string{"./internal/rl/value", "./evaluate", "./dp/account"}, func(ctx context.Context, size int) error {
				return python(ctx, "python/peers/run.py", size)
			}},
		{"schemathesis", "generated requests to the calls of the curator's service, by each role and by nobody, held against its OpenAPI description", 100, "requests a call",
			[]string{"./serve/..."}, func(ctx context.Context, size int) error {
				return python(ctx, "serve/schemathesis/run.py", size)
			}},
		{"keycloak", "people who sign in to the curator's service by a real Keycloak, and call it with its tokens", 2, "sign-ins of each person",
			[]string{"./serve", "./serve/internal/tokens"}, func(ctx context.Context, size int) error {
				return python(ctx, "serve/keycloak/run.py", size)
			}},
	}
}

// python runs a script, which makes the environments that it needs.
func python(ctx context.Context, script string, size int) error {
	cmd := exec.CommandContext(ctx, "python3", script, strconv.Itoa(size))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	return nil
}

// addTrials goes on with the trials of the papers for so many minutes.
func addTrials(ctx context.Context, minutes int) error {
	commit, err := output(ctx, "git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return err
	}
	return goRun(ctx, "run", "./cmd/discreet", "reproduce", "all", "--resume", "docs/results/trials", "--budget", strconv.Itoa(minutes)+"m", "--commit", commit)
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

// goRun runs a go command and lets it print.
func goRun(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
