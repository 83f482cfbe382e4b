package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// test runs go test and prints what it prints: a line for every package and the
// output of tests that fail. Where a test was skipped, it fails and names it.
// After -seconds FILE it writes the processor seconds to FILE.
func test(ctx context.Context, args []string, out io.Writer) error {
	file := ""
	if len(args) >= 2 && args[0] == "-seconds" {
		file, args = args[1], args[2:]
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	skipped, failed, readErr := follow(stdout, out)
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		return fmt.Errorf("go test %s: %w", strings.Join(args, " "), err)
	}
	if failed {
		return fmt.Errorf("go test %s failed", strings.Join(args, " "))
	}
	if len(skipped) > 0 {
		return fmt.Errorf("%d tests were skipped, so nothing is known of what they are for:\n%s", len(skipped), strings.Join(skipped, ""))
	}
	if file == "" {
		return nil
	}
	seconds := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return os.WriteFile(file, fmt.Appendf(nil, "%.0f\n", seconds.Seconds()), 0o644)
}

// follow reads events, writes what a person wants to see and lists what was
// skipped: the name and the output of the test.
func follow(in io.Reader, out io.Writer) (skipped []string, failed bool, err error) {
	said := map[[2]string]*strings.Builder{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return skipped, failed, nil
		}
		if err != nil {
			return skipped, failed, err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(out, "%s", line) // what go prints of itself
			continue
		}
		id := [2]string{e.Package, e.Test}
		if said[id] == nil {
			said[id] = new(strings.Builder)
		}
		switch e.Action {
		case "output", "build-output":
			if e.Test == "" {
				if e.Output != "PASS\n" && !strings.HasPrefix(e.Output, "?") {
					fmt.Fprint(out, e.Output)
				}
				continue
			}
			said[id].WriteString(e.Output)
		case "fail":
			failed = true
			if e.Test != "" {
				fmt.Fprint(out, said[id].String())
			} else {
				unfinished(said, e.Package, out)
			}
		case "skip":
			if e.Test != "" {
				skipped = append(skipped, e.Package+" "+said[id].String())
			}
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(said, id)
		}
	}
}

// unfinished prints the output of a failed package's tests that came to no end, as where
// the time was up.
func unfinished(said map[[2]string]*strings.Builder, pkg string, out io.Writer) {
	for _, id := range slices.SortedFunc(maps.Keys(said), func(a, b [2]string) int { return strings.Compare(a[1], b[1]) }) {
		if id[0] == pkg && id[1] != "" {
			fmt.Fprint(out, said[id].String())
			delete(said, id)
		}
	}
}
