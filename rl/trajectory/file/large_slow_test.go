//go:build slow && linux

package file_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

const largeRows = 5_000_000

// peak is the most memory this process has had in RAM, in bytes.
func peak(t *testing.T) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	kb, err := strconv.ParseFloat(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindStringSubmatch(string(status))[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb * 1024
}

// Five million rows of eight columns are read in less than three times the
// memory that the columns take as float64, and where every row is of another
// person, whose names are kept, in less than four and a half times. Each file is read in a process of
// its own, by one processor, so that the peak is that of reading alone.
func TestReadingLargeFilesTakesLittleMemory(t *testing.T) {
	if path := os.Getenv("DISCREET_LARGE_FILE"); path != "" {
		readLarge(t, path)
		return
	}
	dir := t.TempDir()
	for _, length := range []int{20, 1} {
		d := generate(largeRows, length, false)
		for _, ext := range []string{".csv", ".parquet"} {
			path := filepath.Join(dir, strconv.Itoa(length)+ext)
			if err := file.Write(path, "", d); err != nil {
				t.Fatal(err)
			}
		}
		d = nil
		runtime.GC()
		for _, ext := range []string{".csv", ".parquet"} {
			cmd := exec.Command(os.Args[0], "-test.run=^TestReadingLargeFilesTakesLittleMemory$", "-test.v")
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "DISCREET_LARGE_FILE="+filepath.Join(dir, strconv.Itoa(length)+ext))
			out, err := cmd.CombinedOutput()
			t.Logf("episodes of %d rows, %s:\n%s", length, ext, out)
			if err != nil {
				t.Error(err)
			}
		}
	}
}

func readLarge(t *testing.T, path string) {
	o := trajectory.Options{Need: trajectory.AllParts &^ (trajectory.ActionProbs | trajectory.TargetProb | trajectory.Final)}
	limit := 3.
	if filepath.Base(path)[:2] == "1." {
		o.OneRowEpisodes, limit = true, 4.5
	}
	before := peak(t)
	start := time.Now()
	d, _, err := file.Read(context.Background(), []string{path}, "", o)
	if err != nil || d.Rows() != largeRows {
		t.Fatal(err)
	}
	took := time.Since(start).Seconds()
	columns := float64(largeRows * 8 * 8)
	grown := peak(t) - before
	t.Logf("%.2f million rows/s; peak %.0f MB, %.2f times the columns", largeRows/took/1e6, grown/1e6, grown/columns)
	if grown > limit*columns {
		t.Errorf("peak memory is %.2f times the columns, want at most %v", grown/columns, limit)
	}
}
