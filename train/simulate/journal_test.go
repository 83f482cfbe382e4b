package simulate_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// begun leaves a run in a directory that stopped after so many reports.
func begun(t *testing.T, dir string, reports uint64) {
	t.Helper()
	c := fleet(1)
	c.Progress = func(p simulate.Progress) bool { return p.Accepted < reports }
	if r, err := inDir(t, dir, c); err != nil || r.Accepted != reports {
		t.Fatalf("%v, %+v", err, r)
	}
}

func inDir(t *testing.T, dir string, c simulate.Config) (*simulate.Result, error) {
	t.Helper()
	c.Journal = must2(simulate.OpenJournal(dir))(t)
	r, err := simulate.Run(context.Background(), c)
	if e := c.Journal.Close(); e != nil {
		t.Fatal(e)
	}
	return r, err
}

// contents are the files of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range must2(os.ReadDir(dir))(t) {
		out[e.Name()] = string(must2(os.ReadFile(filepath.Join(dir, e.Name())))(t))
	}
	return out
}

// TestADirectoryIsItsOwnersAlone: the snapshot holds the secret that tokens are made
// with, and the log what agents reported.
func TestADirectoryIsItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions of this kind")
	}
	dir := t.TempDir()
	begun(t, dir, 8)
	files := must2(os.ReadDir(dir))(t)
	if len(files) < 3 {
		t.Fatalf("only %v: the run left nothing to look at", files)
	}
	for _, e := range files {
		if mode := must2(e.Info())(t).Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s is open to others: %v", e.Name(), mode)
		}
	}
}

func TestOneJournalHoldsADirectory(t *testing.T) {
	dir := t.TempDir()
	first := must2(simulate.OpenJournal(dir))(t)
	if _, err := simulate.OpenJournal(dir); !errors.Is(err, simulate.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second journal: %v; want ErrInUse and the directory", err)
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	if err := must2(simulate.OpenJournal(dir))(t).Close(); err != nil {
		t.Error(err)
	}
}

func TestAJournalServesOneRun(t *testing.T) {
	c := fleet(1)
	c.Journal = must2(simulate.OpenJournal(t.TempDir()))(t)
	run(t, c)
	for range 2 { // once with the log open, once closed
		if _, err := simulate.Run(context.Background(), c); !errors.Is(err, train.ErrState) {
			t.Errorf("a second run: %v; want ErrState", err)
		}
		if err := c.Journal.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamageIsRefusedAndNothingChanged spoils a log of 90 reports, of which the
// snapshot counts all or the first 40, and wants every byte to stay as it was.
func TestDamageIsRefusedAndNothingChanged(t *testing.T) {
	dir := t.TempDir()
	begun(t, dir, 40)
	early := contents(t, dir)
	begun(t, dir, 90)
	late := contents(t, dir)
	const header, frame = 55, 47
	log := late["reports.log"]
	if len(log) != header+90*frame {
		t.Fatalf("the log has %d bytes", len(log))
	}
	flipped := func(at int) string { return log[:at] + string(log[at]^4) + log[at+1:] }
	for name, c := range map[string]struct {
		log  string
		from map[string]string // where the other files are from
	}{
		"the header":                  {flipped(3), late},
		"the run's seed":              {flipped(30), late},
		"a report in the middle":      {flipped(header + 12*frame + 7), late},
		"a checksum in the middle":    {flipped(header + 13*frame - 1), late},
		"the last counted report":     {flipped(header + 90*frame - 9), late},
		"a report after the snapshot": {flipped(header + 60*frame + 7), early},
		"counted reports cut off":     {log[:header+50*frame], late},
		"an empty log":                {"", early},
		"no log":                      {"none", early},
	} {
		spoilt := maps.Clone(c.from)
		spoilt["reports.log"] = c.log
		if c.log == "none" {
			delete(spoilt, "reports.log")
		}
		dir := t.TempDir()
		for file, text := range spoilt {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := inDir(t, dir, fleet(1))
		if !errors.Is(err, train.ErrState) || !strings.Contains(err.Error(), "reports.log") {
			t.Errorf("%s: %v; want ErrState about reports.log", name, err)
		}
		if !maps.Equal(contents(t, dir), spoilt) {
			t.Errorf("%s: the directory was changed before it was refused", name)
		}
	}
}

// TestTornEndIsCut leaves what a failure of the power may leave behind the last
// whole report: a part of one, zeros, or several that are not whole.
func TestTornEndIsCut(t *testing.T) {
	want := run(t, fleet(1))
	for name, tail := range map[string][]byte{
		"part": bytes.Repeat([]byte{1}, 20), "zeros": make([]byte, 47), "many": make([]byte, 5*47+3),
	} {
		dir := t.TempDir()
		begun(t, dir, 90)
		f := must2(os.OpenFile(filepath.Join(dir, "reports.log"), os.O_WRONLY|os.O_APPEND, 0))(t)
		_, err := f.Write(tail)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := inDir(t, dir, fleet(1))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same(t, name, got, want)
	}
}

// TestOtherSettingsAreNamed changes three and wants them told, with both values.
func TestOtherSettingsAreNamed(t *testing.T) {
	dir := t.TempDir()
	begun(t, dir, 40)
	c := fleet(1)
	c.Seed, c.Terms.Optimizer.Step, c.Success = 7, .1, nil
	_, err := inDir(t, dir, c)
	for _, want := range []string{"seed is 7 and was 3", "terms.optimizer.step is 0.1 and was 0.2", "success.agents is not set and was 20"} {
		if !errors.Is(err, train.ErrState) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want ErrState with %q", err, want)
		}
	}
}

// TestResumedTellsWhereARunGoesOn also where the log is ahead of the snapshot.
func TestResumedTellsWhereARunGoesOn(t *testing.T) {
	dir := t.TempDir()
	var told []uint64
	for _, stop := range []uint64{40, 90} {
		c := fleet(1)
		c.Resumed = func(n uint64) { told = append(told, n) }
		c.Progress = func(p simulate.Progress) bool { return p.Accepted < stop }
		if _, err := inDir(t, dir, c); err != nil {
			t.Fatal(err)
		}
	}
	if len(told) != 1 || told[0] != 40 {
		t.Errorf("told %v; want 40 once", told)
	}
}
