package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// kinds make a place at which there is nothing yet.
var kinds = map[string]func(t *testing.T) Place{
	"file": func(t *testing.T) Place { return parsed(t, filepath.Join(t.TempDir(), "heads")) },
	"git":  func(t *testing.T) Place { return parsed(t, "git:"+bare(t)+"#refs/witness/trial") },
	"git by URL": func(t *testing.T) Place {
		return parsed(t, "git:file://"+bare(t)+"#refs/heads/main")
	},
	"web": func(t *testing.T) Place {
		s := httptest.NewServer(&keeper{})
		t.Cleanup(s.Close)
		return parsed(t, s.URL+"/witness/trial")
	},
}

func onEach(t *testing.T, f func(t *testing.T, p Place)) {
	for name, make := range kinds {
		t.Run(name, func(t *testing.T) { f(t, make(t)) })
	}
}

func parsed(t *testing.T, name string) Place {
	t.Helper()
	p, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// plainGit runs git as its user does.
func plainGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func bare(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "witness.git")
	plainGit(t, "", "init", "--quiet", "--bare", dir)
	return dir
}

func TestPlaceKeepsLines(t *testing.T) {
	onEach(t, func(t *testing.T, p Place) {
		ctx := context.Background()
		if _, err := p.Tail(ctx); !errors.Is(err, ErrAbsent) {
			t.Fatalf("%v; want ErrAbsent", err)
		}
		want := ""
		for i := range 3 {
			line := fmt.Sprintf("line %d\n", i)
			want += line
			if err := p.Append(ctx, []byte(line)); err != nil {
				t.Fatal(err)
			}
			again := parsed(t, p.String())
			if got, err := again.Tail(ctx); err != nil || string(got) != want {
				t.Fatalf("%q, %v; want %q", got, err, want)
			}
			if again.String() != p.String() {
				t.Fatalf("%q is called %q when it is parsed again", p, again)
			}
		}
	})
}

// However many write at once, each line is there in the end, whole.
func TestNoLineIsLost(t *testing.T) {
	onEach(t, func(t *testing.T, p Place) {
		const writers, lines = 3, 2
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range lines {
					if err := p.Append(context.Background(), fmt.Appendf(nil, "writer %d line %d\n", w, i)); err != nil {
						t.Errorf("writer %d: %v", w, err)
					}
				}
			})
		}
		all.Wait()
		got, err := p.Tail(context.Background())
		if err != nil || bytes.Count(got, []byte("\n")) != writers*lines {
			t.Errorf("%q, %v; want %d lines", got, err, writers*lines)
		}
		for w := range writers {
			at := -1
			for i := range lines {
				next := bytes.Index(got, fmt.Appendf(nil, "writer %d line %d\n", w, i))
				if next <= at {
					t.Errorf("line %d of writer %d is not after the line before it", i, w)
				}
				at = next
			}
		}
	})
}

// What is read is the whole lines at the end, in bounded memory.
func TestTailIsWholeLines(t *testing.T) {
	onEach(t, func(t *testing.T, p Place) {
		ctx := context.Background()
		var want []string
		for i := range 8 {
			line := strings.Repeat(string(rune('a'+i)), 9999) + "\n"
			want = append(want, line)
			if err := p.Append(ctx, []byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		// 65536 bytes are six lines of 10000 and some.
		if got, err := p.Tail(ctx); err != nil || string(got) != strings.Join(want[2:], "") {
			t.Errorf("%d bytes that begin %.5q, %v; want the last six lines", len(got), got, err)
		}
	})
}

func TestLastLines(t *testing.T) {
	long := strings.Repeat("x", Most)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"short", "a\nb\n", "a\nb\n"},
		{"as much as is read", long, long},
		{"a line that begins where the reading does", "old\n" + long[1:] + "\n", long[1:] + "\n"},
		{"a line that begins before", "old\n" + long + "\nb\n", "b\n"},
		{"one line too long", "old\n" + long + "y\n", long[1:] + "y\n"},
	} {
		if got := string(lastLines([]byte(c.text))); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, len(got), len(c.want))
		}
	}
}

// What a crash cut short stays a line of its own.
func TestACutLineStaysApart(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "heads")
	repository := bare(t)
	blob := strings.TrimSpace(plainGitInput(t, repository, "cut", "hash-object", "-w", "--stdin"))
	tree := strings.TrimSpace(plainGitInput(t, repository, "100644 blob "+blob+"\theads.ndjson\n", "mktree"))
	plainGit(t, repository, "update-ref", "refs/witness/x", strings.TrimSpace(plainGit(t, repository, "commit-tree", tree, "-m", "m")))
	if err := os.WriteFile(path, []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Place{parsed(t, path), parsed(t, "git:"+repository+"#refs/witness/x")} {
		if err := p.Append(ctx, []byte("whole\n")); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Tail(ctx); err != nil || string(got) != "cut\nwhole\n" {
			t.Errorf("%s: %q, %v", p, got, err)
		}
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"git:":                                 "want git:REPOSITORY#REFERENCE",
		"git:/srv/w.git":                       "want git:REPOSITORY#REFERENCE",
		"git:#refs/x":                          "want git:REPOSITORY#REFERENCE",
		"git:/srv/w.git#refs/one":              "want git:REPOSITORY#REFERENCE",
		"git:/srv/w.git#main":                  "want git:REPOSITORY#REFERENCE",
		"git:/srv/w.git#refs/a b":              "want git:REPOSITORY#REFERENCE",
		"git:/srv/w.git#refs/../x":             "want git:REPOSITORY#REFERENCE",
		"git:/srv/w.git#refs/x:refs/heads/y":   "want git:REPOSITORY#REFERENCE",
		"git:/srv/w.git#--upload-pack=x":       "want git:REPOSITORY#REFERENCE",
		"git:--upload-pack=x#refs/w/x":         "begins with -",
		"git:ext::sh -c date#refs/w/x":         "by ssh or https",
		"git:http://example.org/w#refs/w/x":    "by ssh or https",
		"git:https://a:b@example.org#refs/w/x": "password",
		"git:https://%zz#refs/w/x":             "cannot be read",
		"https:///path":                        "host and a path alone",
		"https://a:b@example.org/x":            "host and a path alone",
		"https://example.org/x?key=b":          "host and a path alone",
		"https://example.org/x?":               "host and a path alone",
		"https://example.org/x#":               "host and a path alone",
		"http://example.org/x":                 "want https",
		"http://127.0.0.1.example.org/x":       "want https",
		"ftp://example.org/x":                  "none of",
		"HTTPS://example.org/x":                "none of",
	} {
		p, err := Parse(name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", name, p, err, want)
		} else if strings.Contains(err.Error(), "a:b@") {
			t.Errorf("%s: the password is in the error: %v", name, err)
		}
	}
	for _, name := range []string{"http://localhost:80/x", "http://[::1]/x", "git:host:w.git#refs/w/x", "git:ssh://a@example.org/w#refs/heads/x.y"} {
		if p, err := Parse(name); err != nil || p.String() != name {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	relative := parsed(t, "git:w#1.git#refs/w/x").String()
	if want, _ := filepath.Abs("w#1.git"); relative != "git:"+want+"#refs/w/x" {
		t.Errorf("a repository in a directory is called %s", relative)
	}
}

// FuzzParse: what is parsed has one name, and no name puts an option before git.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"heads", "git:/srv/w.git#refs/witness/x", "git:a@b:w#refs/w/x", "https://example.org/x", "http://[::1]:9/x", "git:-x#refs/w/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := Parse(name)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q is called %q, and that %v, %v", name, p, again, err)
		}
		if g, ok := p.(*git); ok && (strings.HasPrefix(g.repository, "-") || strings.ContainsAny(g.ref, ": +^~*?[\\") || strings.Contains(g.ref, "..") || !strings.HasPrefix(g.ref, "refs/")) {
			t.Errorf("%q is taken", name)
		}
	})
}
