package main

import (
	"context"
	"fmt"
	"os"
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
	// covers are the packages that its verdict is about.
	covers []string
	make   func(ctx context.Context, size int) error
}

// runs are the long runs. Each has a record in docs/results/runs.
func runs() []run {
	return []run{
		{"fuzz", "every fuzz target, one after the other", 60, "seconds a target",
			[]string{"./dp/...", "./rl/trajectory/...", "./internal/config", "./internal/jcs"}, fuzz},
		{"kills", "processes killed while they charge, run, record and show, on each kind of store", 1000, "kills",
			[]string{"./dp/ledger/..."}, func(ctx context.Context, size int) error {
				return goRun(ctx, "test", "-count=1", "-tags=slow", "-timeout=3h", "-run=^TestKilledAtRandomMoments$", "./dp/ledger", "-kills="+strconv.Itoa(size))
			}},
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

// goRun runs a go command and lets it print.
func goRun(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// fuzz runs every fuzz target of the module for so many seconds.
func fuzz(ctx context.Context, seconds int) error {
	targets, err := fuzzTargets(ctx)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return fmt.Errorf("no fuzz targets found")
	}
	for _, t := range targets {
		fmt.Println("==", t.pkg, t.name)
		err := goRun(ctx, "test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+strconv.Itoa(seconds)+"s", t.pkg)
		if err != nil {
			return err
		}
	}
	return nil
}

type target struct{ pkg, name string }

func fuzzTargets(ctx context.Context) ([]target, error) {
	list := exec.CommandContext(ctx, "go", "list", "-f", "{{$p := .ImportPath}}{{$d := .Dir}}{{range .TestGoFiles}}{{$p}} {{$d}}/{{.}}\n{{end}}{{range .XTestGoFiles}}{{$p}} {{$d}}/{{.}}\n{{end}}", "./...")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	var all []target
	for line := range strings.Lines(string(out)) {
		pkg, file, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for l := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(l, "func Fuzz"); ok {
				name, _, _ := strings.Cut(rest, "(")
				all = append(all, target{pkg, "Fuzz" + name})
			}
		}
	}
	slices.SortFunc(all, func(a, b target) int { return strings.Compare(a.pkg+a.name, b.pkg+b.name) })
	return all, nil
}
