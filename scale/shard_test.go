// The shards themselves: whose they are, who is in them, and who hears of what is wrong in them.

package scale

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/scan"
)

// TestShardsThatAreNotTheirsAreRefused: files that say they are other shards than they
// are, sets that are not whole, and persons where they do not belong.
func TestShardsThatAreNotTheirsAreRefused(t *testing.T) {
	s := newStage(t)
	if _, err := Set(t.Context(), s.shards[1:]); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "shard 0 of 4 is missing") {
		t.Errorf("a set without shard 0: %v", err)
	}
	if _, err := Set(t.Context(), append(s.shards, s.shards[2])); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "both shard 2") {
		t.Errorf("shard 2 twice: %v", err)
	}
	beside := []string{put(t, "x", s.dir, "s0.parquet.faults.txt"), put(t, "x", s.dir, "s3.parquet.remarks.txt")} // in a directory of shards
	if set, err := Set(t.Context(), append(beside, s.shards...)); err != nil || !slices.Equal(set, s.shards) {
		t.Errorf("beside what checks left: %q, %v", set, err)
	}
	others, err := write(people(t, 120, 3), filepath.Join(s.dir, "others"), 4, [16]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Set(t.Context(), append(s.shards[:3:3], others[3])); !errors.Is(err, ErrShard) || !strings.Contains(err.Error(), "two sets") {
		t.Errorf("two sets: %v", err)
	}
	place, err := placeOf(t.Context(), s.shards[2])
	if err != nil {
		t.Fatal(err)
	}
	d := people(t, 120, 3)
	var here, there []int
	for i, id := range d.PersonID {
		if place.holds(id) {
			here = append(here, i)
		} else {
			there = append(there, i)
		}
	}
	if err := place.check("x", d.Take(here[:1]).PersonID); err != nil {
		t.Errorf("a person of the shard: %v", err)
	}
	if err := place.check("x", d.Take(there[:1]).PersonID); !errors.Is(err, ErrShard) {
		t.Errorf("a person of another shard: %v", err)
	}
	if err := place.check("x", d.Take([]int{here[0], here[0]}).PersonID); !errors.Is(err, ErrShard) {
		t.Errorf("a person twice: %v", err)
	}
	if _, err := Write(d, filepath.Join(s.dir, "many"), 5000); !errors.Is(err, ErrShard) {
		t.Errorf("more shards than persons: %v", err)
	}
}

// TestEveryPersonIsInOneShard, with all that was said of them.
func TestEveryPersonIsInOneShard(t *testing.T) {
	s := newStage(t)
	d := people(t, 120, 3)
	seen := map[string]int{}
	rows := 0
	read, err := scan.Shards(s.load(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range s.shards {
		part, err := read(context.Background(), path, shardFormat, false)
		if err != nil {
			t.Fatal(err)
		}
		rows += part.Rows
		for _, id := range part.Persons {
			seen[id]++
		}
	}
	if rows != d.Rows() || len(seen) != d.Persons() {
		t.Errorf("%d rows of %d persons in shards, %d of %d before", rows, len(seen), d.Rows(), d.Persons())
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is in %d shards", id, n)
		}
	}
}

// TestFaultsGoToTheCurator: an error names the shard, and its file says where.
func TestFaultsGoToTheCurator(t *testing.T) {
	s := newStage(t, "data.on_violation=reject", "problem.reward={min: 0, max: 0.5, outside: reject}", "problem.return={min: 0, max: 0.5}")
	d := s.driver(t)
	_, err := d.Evaluate(context.Background())
	if !errors.Is(err, ErrShard) || strings.Contains(err.Error(), "row") || strings.Contains(err.Error(), "reward") {
		t.Errorf("faulty shards: %v; want an error without what is wrong", err)
	}
	found, globbed := filepath.Glob(filepath.Join(s.dir, "shards", "*"+faultsSuffix))
	if globbed != nil || len(found) == 0 {
		t.Fatalf("%d files of faults, %v", len(found), globbed)
	}
	text, err := os.ReadFile(found[0])
	if err != nil || !strings.Contains(string(text), "reward") {
		t.Errorf("the curator reads %q, %v", text, err)
	}
	info, err := os.Stat(found[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(d.Dir, "run.json")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the run was charged although a shard did not pass")
	}
}

// TestRemarksAreOfTheirShard: the number of all persons is none of a shard's, and what an
// earlier check remarked does not stay.
func TestRemarksAreOfTheirShard(t *testing.T) {
	remarks := func(s stage) string {
		found, err := filepath.Glob(filepath.Join(s.dir, "shards", "*"+remarksSuffix))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
	s := newStage(t, "problem.reward={min: 0, max: 0.5, outside: clip}", "problem.return=null")
	if _, err := s.driver(t).Evaluate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if told := remarks(s); !strings.Contains(told, "rewards outside their bounds") || strings.Contains(told, "problem.persons") {
		t.Errorf("of rewards that are clipped, in four shards of a right number of persons, the curator reads %q", told)
	}
	for name, next := range map[string]func() error{
		"nothing to remark": func() error { return remark(t.Context(), s.shards[0], nil) },
		"a fault":           func() error { return faulty(context.Background(), 0, s.shards[0], false, errStopped) },
	} {
		if err := remark(t.Context(), s.shards[0], []string{"doubtful"}); err != nil {
			t.Fatal(err)
		}
		if err := next(); err != nil && !errors.Is(err, ErrShard) {
			t.Fatal(err)
		}
		if _, err := os.Lstat(s.shards[0] + remarksSuffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s, and the remark of an earlier check stays: %v", name, err)
		}
	}
}
