package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Actions are named by the commit that was looked at, with its version for readers: a tag can be
// moved.
func TestActionsArePinnedByCommit(t *testing.T) {
	paths, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	pinned := regexp.MustCompile(`^uses: [a-z-]+/[a-z/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	commits := map[string]string{}
	n := 0
	for _, path := range paths {
		for i, line := range strings.Split(fileText(t, path), "\n") {
			_, use, found := strings.Cut(line, "uses: ")
			if !found {
				continue
			}
			n++
			if !pinned.MatchString("uses: " + use) {
				t.Errorf("%s:%d: %s", path, i+1, line)
			}
			name, commit, _ := strings.Cut(use, "@")
			if before := commits[name]; before != "" && before != commit {
				t.Errorf("%s is used as %s and as %s", name, before, commit)
			}
			commits[name] = commit
		}
	}
	if n < 10 {
		t.Errorf("%d uses of actions were found", n)
	}
}

// Whatever is handed out has its licence and those of what is linked into it: archives, the image,
// the wheel (of which python/tests looks at what is installed) and the source distribution.
func TestEveryArtefactCarriesLicences(t *testing.T) {
	for path, want := range map[string][]string{
		"../../.goreleaser.yaml":              {"- &text {src: LICENSE,", "src: THIRD_PARTY_NOTICES.md}", "<<: *archive", "extra_files: [LICENSE, THIRD_PARTY_NOTICES.md]"},
		"../../deploy/Dockerfile":             {"COPY LICENSE THIRD_PARTY_NOTICES.md /"},
		"../../python/hatch_build.py":         {`LICENCES = ("LICENSE", "THIRD_PARTY_NOTICES.md")`, "for name in LICENCES:"},
		"../../python/pyproject.toml":         {`license-files = ["LICENSE", "THIRD_PARTY_NOTICES.md"]`},
		"../../THIRD_PARTY_NOTICES.md":        {"Go, the standard library of the release that builds, LICENSE"},
		"../../.github/workflows/release.yml": {"id-token: write", "attest-build-provenance", "cosign-installer", "syft scan dir:unpacked", "wheels.py dist/*.whl", "wheels.py dist/*.tar.gz"},
	} {
		text := fileText(t, path)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q", path, w)
			}
		}
	}
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
