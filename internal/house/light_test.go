package house

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// light lists the packages that compute and store nothing: they run in a browser
// or on a device.
var light = []string{"./evaluate", "./train", "./train/device", "./train/simulate"}

// heavy is what they must not link, databases and the network, by the beginning of a package's path.
var heavy = []string{"database/sql", "modernc.org/", "github.com/jackc/", module + "/dp/ledger", "net/http", "os/exec"}

// TestWhatComputesLinksNoDatabase by its whole tree of imports, for the machine of
// the test and for WebAssembly.
func TestWhatComputesLinksNoDatabase(t *testing.T) {
	for _, env := range [][]string{nil, {"GOOS=js", "GOARCH=wasm"}} {
		for _, pkg := range light {
			for _, dep := range dependencies(t, env, pkg) {
				if links(dep) {
					t.Errorf("%s %v links %s", pkg, env, dep)
				}
			}
		}
	}
	if deps := dependencies(t, nil, "./dp/ledger"); !anyOf(deps, links) {
		t.Error("not even dp/ledger is found to link a database: the test sees nothing")
	}
}

// elsewhere is what neither the command links nor go.mod requires: engines are in modules of their own,
// and package chart draws SVG without fonts and pixels.
var elsewhere = []string{"github.com/apache/", "google.golang.org/grpc", "k8s.io/", module + "/beam", "gonum.org/v1/plot", "golang.org/x/image", "codeberg.org/go-fonts", "github.com/golang/freetype"}

// ofTests is what tests have and the command does not link: the standard library's images, and a library that
// compiles the nineteen schemas of JSON Schema itself at every start.
var ofTests = []string{"image/", "github.com/santhosh-tekuri/jsonschema"}

// TestTheCommandLinksNeitherEnginesNorFonts by its whole tree of imports.
func TestTheCommandLinksNeitherEnginesNorFonts(t *testing.T) {
	for _, dep := range dependencies(t, nil, "./cmd/discreet") {
		if anyOf(append(elsewhere, ofTests...), func(e string) bool { return strings.HasPrefix(dep+"/", e) }) {
			t.Errorf("cmd/discreet links %s", dep)
		}
	}
	requires, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range elsewhere {
		if strings.Contains(string(requires), e) {
			t.Errorf("go.mod requires %s", e)
		}
	}
}

// TestTheModulesAgree: what go.mod requires here, the module beam has too.
func TestTheModulesAgree(t *testing.T) {
	list := exec.Command("go", "list", "-mod=readonly", "-deps", "./...")
	list.Dir = "../../beam"
	var said strings.Builder
	list.Stderr = &said
	if err := list.Run(); err != nil {
		t.Errorf("%v: %s; run go mod tidy in beam/", err, said.String())
	}
}

// TestOnlyTheLedgerIssuesReceipts of charges.
func TestOnlyTheLedgerIssuesReceipts(t *testing.T) {
	for _, s := range sources(t) {
		for _, i := range s.imports {
			if i == "dp/internal/issue" && s.pkg != "dp/receipt" && s.pkg != "dp/ledger" {
				t.Errorf("%s imports %s: a receipt of a charge comes from package ledger alone", s.path, i)
			}
		}
	}
}

// dependencies are the packages that one links.
func dependencies(t *testing.T, env []string, pkg string) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", pkg)
	list.Dir = "../.."
	list.Env = append(os.Environ(), env...)
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list -deps %s: %v", pkg, err)
	}
	return strings.Fields(string(out))
}

func links(pkg string) bool {
	return anyOf(heavy, func(h string) bool { return strings.HasPrefix(pkg, h) })
}

func anyOf(all []string, is func(string) bool) bool {
	for _, s := range all {
		if is(s) {
			return true
		}
	}
	return false
}
