//go:build flink

// Rows that Flink groups by person, and workers that are killed meanwhile.

package beam

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/discreet-rl/discreet/scale"
)

// TestRowsOnFlinkReleaseTheBytesOfOneProcess, and neither its logs nor what it leaves on disk tell an id.
func TestRowsOnFlinkReleaseTheBytesOfOneProcess(t *testing.T) {
	s := newStage(t, 120, 2)
	e, _ := onFlink(t)
	for _, format := range []string{"csv", "parquet"} {
		s.apart(t, format).evaluate(t, format, e, refine...)
	}
	if err := filepath.WalkDir(*flinkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".jar") {
			return nil // what was there a moment ago
		}
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "person 1") {
			t.Errorf("%s tells an id", path)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// replaced has another worker in the place of one that ends.
func replaced(t *testing.T, e *Engine, worker *exec.Cmd) (ended chan struct{}) {
	ended = make(chan struct{})
	go func() {
		_ = worker.Wait()
		poolProcess(t, e.config.Workers)
		close(ended)
	}()
	return ended
}

// TestAWorkerKilledWhileItReadsAFile: another one in its place, and the bytes are those of one process.
func TestAWorkerKilledWhileItReadsAFile(t *testing.T) {
	s := newStage(t, 120, 2).apart(t, "csv")
	e, worker := onFlink(t)
	files := s.files(t)
	there, pipe := files[1], fifo(t, s.dir)
	files[1] = pipe
	ended := replaced(t, e, worker)
	go func() {
		held := reached(t, pipe)
		if err := worker.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-ended
		_ = held.Close()
	}()
	go func() {
		<-ended
		if err := errors.Join(os.Symlink(there, pipe+".other"), os.Rename(pipe+".other", pipe)); err != nil {
			t.Error(err)
		}
	}()
	s.evaluate(t, "killed", inFiles{e, 2, files}, refine...)
	<-ended
}

func init() {
	register.DoFn3x2[context.Context, string, func(*[]byte) bool, []byte, error](&killedOnce{})
}

// killedOnce is a worker that is killed when it has a partition's rows, where the mark is not there yet.
type killedOnce struct {
	gatherPartition
	Mark string
}

func (f *killedOnce) ProcessElement(ctx context.Context, partition string, given func(*[]byte) bool) ([]byte, error) {
	if m, err := os.OpenFile(f.Mark, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = m.Close()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return f.gatherPartition.ProcessElement(ctx, partition, given)
}

// TestAWorkerKilledWhileItAnswersForAPartition likewise.
func TestAWorkerKilledWhileItAnswersForAPartition(t *testing.T) {
	s := newStage(t, 120, 2).apart(t, "csv")
	e, worker := onFlink(t)
	ended := replaced(t, e, worker)
	s.evaluate(t, "killed", killing{e, filepath.Join(s.dir, "mark")}, wis...)
	<-ended
}

// killing is an engine whose first worker of round 2 is killed.
type killing struct {
	*Engine
	mark string
}

func (e killing) Round(ctx context.Context, r scale.Round) ([]scale.Partial, error) {
	files, err := r.Task.Files(ctx)
	if err != nil || r.Task.Round != 2 {
		return e.Engine.Round(ctx, r)
	}
	return e.Engine.round(ctx, r, files, func(j job, out string) *sdk.Pipeline {
		return grouped(j, out, &killedOnce{gatherPartition{Job: j}, e.mark})
	})
}
