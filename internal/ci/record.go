package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// recordDir is where records are kept, below the module's root.
const recordDir = "docs/results/runs"

// record is what became of a long run.
type record struct {
	Name    string `json:"name"`
	Command string `json:"command"`
	// Commit that was checked out; Modified says that files differed from it.
	Commit   string `json:"commit"`
	Modified bool   `json:"modified,omitempty"`
	// Packages holds a SHA-256 of the files of each package that the run is about.
	Packages map[string]string `json:"packages"`
	Machine  string            `json:"machine"`
	Started  string            `json:"started"`
	Seconds  float64           `json:"seconds"`
	// Verdict is "pass": of a run that fails there is no record.
	Verdict string `json:"verdict"`
}

const pass = "pass"

// long makes a run and writes its record to dir where it passes. Where it fails, what it printed stays in
// a log, which is no file of the repository.
func long(ctx context.Context, r run, dir string) error {
	packages, err := hashes(ctx, r.covers)
	if err != nil {
		return err
	}
	commit, err := output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	changed, err := output(ctx, "git", "status", "--porcelain", "--", ":/", ":!/docs/results")
	if err != nil {
		return err
	}
	log, err := os.CreateTemp("", "discreet-"+r.name+"-*.log")
	if err != nil {
		return err
	}
	defer log.Close()
	begun := time.Now()
	verdict := r.make(ctx, commit[:min(12, len(commit))], io.MultiWriter(os.Stdout, log))
	if err := cmp.Or(ctx.Err(), verdict); err != nil { // an interrupted run says nothing
		return fmt.Errorf("the long run %s: %w; no record is written, and its output is in %s", r.name, err, log.Name())
	}
	rec := record{
		Name: r.name, Command: fmt.Sprintf(".ci/long %s %d", r.name, r.size),
		Commit: commit, Modified: changed != "", Packages: packages, Machine: machine(),
		Started: begun.UTC().Format(time.RFC3339), Seconds: float64(int(time.Since(begun).Seconds()*10)) / 10, Verdict: pass,
	}
	return errors.Join(rec.write(dir), os.Remove(log.Name()))
}

// longAll makes the runs whose records are not current, one after another, and names at the end those that failed.
func longAll(ctx context.Context, runs []run, dir string, out io.Writer) error {
	var failed []error
	for _, r := range runs {
		line, err := judged(ctx, dir, r)
		if errors.Is(err, errNoRecord) {
			line = err.Error()
		} else if err != nil {
			return err
		}
		fmt.Fprintln(out, line)
		if strings.HasPrefix(line, current) {
			continue
		}
		if err := long(ctx, r, dir); err != nil {
			failed = append(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

func (r record) write(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, r.Name+".json"), append(text, '\n'), 0o644)
}

// records checks that every long run has a record of success, and that no other record is there.
func records(ctx context.Context, runs []run, dir string, out io.Writer) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	var wrong []error
	for _, r := range runs {
		line, err := judged(ctx, dir, r)
		switch _, begun := os.Stat(filepath.Join(dir, r.progress)); {
		case err == nil:
			fmt.Fprintln(out, line)
		case errors.Is(err, fs.ErrNotExist) && r.progress != "" && begun == nil:
			fmt.Fprintf(out, "unfinished: %s, whose progress is in %s; .ci/long %s goes on with it\n", r.name, r.progress, r.name)
		default:
			wrong = append(wrong, err)
		}
		files = without(files, []string{filepath.Join(dir, r.name+".json")})
	}
	for _, f := range files {
		wrong = append(wrong, fmt.Errorf("%s is the record of no long run; remove it", f))
	}
	return errors.Join(wrong...)
}

func judged(ctx context.Context, dir string, r run) (string, error) {
	now, err := hashes(ctx, r.covers)
	if err != nil {
		return "", err
	}
	return judge(dir, r.name, now)
}

// current begins the line of a record whose packages are still the same.
const current = "current"

// errNoRecord is a run without a record of success.
var errNoRecord = errors.New("no record")

// judge reads the record of a run. It is an error where there is none, or not of
// success; otherwise the line says whether the packages are still the same.
func judge(dir, name string, now map[string]string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		return "", fmt.Errorf("the long run %s was never made: %w: %w; run .ci/long %s", name, errNoRecord, err, name)
	}
	var r record
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil || r.Name != name {
		return "", fmt.Errorf("%w of the long run %s can be read: name %q, %v", errNoRecord, name, r.Name, err)
	}
	if r.Verdict != pass {
		return "", fmt.Errorf("%w of success: the long run %s failed at commit %.10s: %s", errNoRecord, name, r.Commit, r.Verdict)
	}
	var changed []string
	for pkg, hash := range now {
		if r.Packages[pkg] != hash {
			changed = append(changed, pkg)
		}
	}
	for pkg := range r.Packages {
		if now[pkg] == "" {
			changed = append(changed, pkg)
		}
	}
	if len(changed) == 0 {
		return fmt.Sprintf("%s: %s, %s, %.0f s", current, name, r.Command, r.Seconds), nil
	}
	slices.Sort(changed)
	return fmt.Sprintf("stale: %s, of commit %.10s; since then changed %s", name, r.Commit, few(changed)), nil
}

// few are the first of many names, and how many there are.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:most], " "), len(names)-most)
}

// hashes takes the SHA-256 of the files of each package: names and contents of
// its directory and of testdata, not of packages below. A directory with a go.mod stands
// for the package there, and one without a package for its files.
func hashes(ctx context.Context, patterns []string) (map[string]string, error) {
	all := map[string]string{}
	for _, p := range patterns {
		within, of := ".", p
		if found, err := filepath.Glob(filepath.Join(p, "go.mod")); err == nil && len(found) > 0 {
			within, of = p, "."
		} else if found, err := filepath.Glob(filepath.Join(p, "*.go")); err == nil && len(found) == 0 && !strings.HasSuffix(p, "...") {
			if all[p], err = hashOf(p); err != nil {
				return nil, err
			}
			continue
		}
		list, err := output(ctx, "go", "list", "-C", within, "-f", "{{.ImportPath}} {{.Dir}}", of)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			pkg, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
			if all[pkg], err = hashOf(dir); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func hashOf(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "testdata/rapid" || rel != "." && rel != "testdata" && !strings.HasPrefix(rel, "testdata/") {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		fmt.Fprintf(h, "%x  %s\n", sum, rel)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// machine says what a time was measured on.
func machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s/%s, %d cores, %s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), model, runtime.Version())
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
