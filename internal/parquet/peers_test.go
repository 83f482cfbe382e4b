//go:build peers

package parquet_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/internal/parquet"
)

var (
	tables = flag.Int("tables", 200, "random tables to write")
	python = flag.String("python", "python3", "an interpreter with PyArrow, DuckDB and Polars")
)

// PyArrow, DuckDB and Polars read random tables of this writer as they were.
// `.ci/long parquet-peers` runs it.
func TestPeersReadAlike(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	for n := range *tables {
		w := written{marks: [][2]string{{"discreet_schema_version", "1"}}}
		rows := []int{0, 1, 7, 8, 9, 63, 64, 65, 1000, 1025, 20_000}[r.IntN(11)]
		for i := range 1 + r.IntN(6) {
			leaf := parquet.Leaf{Path: []string{fmt.Sprint("c", i)}, Type: parquet.Type(r.IntN(4))}
			kind := r.IntN(4)
			leaf.List = kind == 0 && leaf.Type == parquet.Double
			leaf.Optional = kind == 1 || kind == 2
			values := []int{1, 2, 5, 300, 1 << 30}[r.IntN(5)]
			if leaf.Type == parquet.Text {
				values = min(values, 300)
			}
			w.leaves, w.cells = append(w.leaves, leaf), append(w.cells, cells(r, leaf, rows, values, kind == 2))
		}
		file, err := w.file(1 + r.IntN(3000))
		if err != nil {
			t.Fatal(err)
		}
		table := map[string]any{"rows": rows}
		var columns []map[string]any
		for i, leaf := range w.leaves {
			columns = append(columns, map[string]any{"name": leaf.Path[0], "type": leaf.Type, "list": leaf.List, "cells": w.cells[i]})
		}
		table["columns"] = columns
		text, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprintf("%04d", n))
		for ending, b := range map[string][]byte{".parquet": file, ".json": text} {
			if err := os.WriteFile(name+ending, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), *python, "peers/compare.py", dir).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
