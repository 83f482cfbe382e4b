// Command ci is what the scripts in .ci are written in, where bash would be
// hard to read:
//
//	ci test ARGS...    go test ARGS..., in which a skipped test is a failure; after -seconds FILE it writes its processor seconds there
//	ci slow ARGS...    ci test -tags slow ARGS..., without the tests that are the same without the tag
//	ci long NAME N     make the long run NAME of size N and write its record; without N, of its usual size
//	ci long            list the long runs
//	ci long all        make those whose records are not current, one after another
//	ci licences        fail where a linked module's licence is not accepted, or THIRD_PARTY_NOTICES.md is not theirs; -write writes it
//	ci api             list the exported names outside internal/; fail where there are more than meant; -write writes docs/reference/go.md, which a test compares
//	ci chart R M       fail where R, which a Helm chart rendered, holds other objects than the manifest M
//	ci keys -write     write the reference of a configuration's keys, docs/reference/keys.md, which a test compares
//	ci records         fail where a long run has no record of success, or a record has no run; say which are stale
//	ci size [SECONDS]  print lines, words, names and bytes beside those of the last release, and seconds of the fast suite if given
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ci:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	switch {
	case len(args) > 0 && args[0] == "test":
		return test(ctx, args[1:], os.Stdout)
	case len(args) > 0 && args[0] == "slow":
		return slow(ctx, args[1:], os.Stdout)
	case len(args) == 1 && args[0] == "long":
		for _, r := range runs() {
			fmt.Printf("%-12s %s (usual size %d %s)\n", r.name, r.what, r.size, r.unit)
		}
		return nil
	case len(args) == 2 && args[0] == "long" && args[1] == "all":
		return longAll(ctx, runs(), recordDir, os.Stdout)
	case len(args) >= 2 && len(args) <= 3 && args[0] == "long":
		r, err := runNamed(args[1])
		if err != nil {
			return err
		}
		if len(args) == 3 {
			if r.size, err = strconv.Atoi(args[2]); err != nil || r.size < 1 {
				return fmt.Errorf("size %q; want a whole number of %s, 1 or more", args[2], r.unit)
			}
		}
		return long(ctx, r, recordDir)
	case len(args) == 3 && args[0] == "chart":
		return chart(args[1], args[2])
	case len(args) == 2 && args[0] == "keys" && args[1] == "-write":
		return writeKeys()
	case len(args) == 1 && args[0] == "api":
		return api(".", os.Stdout)
	case len(args) == 2 && args[0] == "api" && args[1] == "-write":
		return writeAPI()
	case len(args) == 1 && args[0] == "licences":
		return licences(ctx, false, os.Stdout)
	case len(args) == 2 && args[0] == "licences" && args[1] == "-write":
		return licences(ctx, true, os.Stdout)
	case len(args) == 1 && args[0] == "records":
		return records(ctx, runs(), recordDir, os.Stdout)
	case len(args) >= 1 && len(args) <= 2 && args[0] == "size":
		seconds := 0
		if len(args) == 2 {
			var err error
			if seconds, err = strconv.Atoi(args[1]); err != nil {
				return fmt.Errorf("the processor seconds of the fast suite: %w", err)
			}
		}
		return size(ctx, seconds, os.Stdout)
	}
	return fmt.Errorf("usage: ci test ARGS... | ci slow ARGS... | ci long [all | NAME [N]] | ci api [-write] | ci licences [-write] | ci chart RENDERED MANIFEST | ci keys -write | ci records | ci size [SECONDS]")
}
