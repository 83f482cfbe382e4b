package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSlowStepRunsWhatTheTagAdds(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"same/a_test.go":    "package a\nfunc TestSame(t *testing.T) {}",
		"adds/a_test.go":    "package a\nfunc TestFast(t *testing.T) {}",
		"adds/slow_test.go": "package a\nfunc TestMore(t *testing.T) {}\nfunc ExampleF() {}\nfunc Testing() {}\nfunc (s) TestMethod() {}",
		"sizes/a_test.go": "package a\nfunc TestSized(t *testing.T) { for range n {} }\nfunc FuzzRead(f *testing.F) { much{}.read() }\nfunc TestMain(m *testing.M) {}" +
			"\ntype much struct{}\nfunc (much) read() { _ = all }\nvar all = n * n\nfunc TestNotSized(t *testing.T) {}",
		"sizes/fast_test.go":    "package a\nconst n = 1\nfunc TestSmallOnly(t *testing.T) {}",
		"sizes/slow_test.go":    "package a\nconst n = 100",
		"init/a_test.go":        "package a\nfunc TestAfterInit(t *testing.T) {}",
		"main/a_test.go":        "package a\nfunc TestMain(m *testing.M) { begin() }\nfunc TestAfterMain(t *testing.T) {}",
		"main/fast_test.go":     "package a\nfunc begin() {}",
		"main/slow_test.go":     "package a\nfunc begin() { println() }",
		"init/slow_test.go":     "package a\nfunc init() {}",
		"internal/mutants/a.go": "package a\nfunc TestMutants(t *testing.T) {}",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(dir string) string { return filepath.Join(root, dir) }
	fast := map[string][]string{
		at("same"): {"a_test.go"}, at("adds"): {"a_test.go"}, at("sizes"): {"a_test.go", "fast_test.go"},
		at("init"): {"a_test.go"}, at("main"): {"a_test.go", "fast_test.go"}, at("internal/mutants"): nil,
	}
	tagged := map[string][]string{
		at("same"): {"a_test.go"}, at("adds"): {"a_test.go", "slow_test.go"}, at("sizes"): {"a_test.go", "slow_test.go"},
		at("init"): {"a_test.go", "slow_test.go"}, at("main"): {"a_test.go", "slow_test.go"}, at("internal/mutants"): {"a.go"},
	}
	packages, tests, err := added(fast, tagged)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{at("adds"), at("init"), at("main"), at("sizes"), at("internal/mutants")}; !slices.Equal(packages, want) {
		t.Errorf("packages %q; want %q", packages, want)
	}
	if want := []string{"ExampleF", "FuzzRead", "TestAfterInit", "TestAfterMain", "TestMore", "TestMutants", "TestSized"}; !slices.Equal(tests, want) {
		t.Errorf("tests %q; want %q", tests, want)
	}
}
