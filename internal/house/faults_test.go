package house

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// unmarked lists the sentinels without a class of package fault: with them alone a
// command ends with exit code 1, for something failed that neither other input nor
// another budget mends; or they always come beside a sentinel that is marked.
var unmarked = []string{
	"dp/account.ErrExhausted",
	"dp/audit.ErrBroken",
	"dp/ledger.ErrBehind", "dp/ledger.ErrRecorded", "dp/ledger.ErrRelease", "dp/ledger.ErrTampered",
	"internal/dp/ledger/chain.ErrBroken", "internal/dp/ledger/chain.ErrEntry",
	"dp/ledger/internal/store.ErrBusy", "dp/ledger/internal/store.ErrNotDurable", "dp/ledger/internal/store.ErrSchema", "dp/ledger/internal/store.ErrStore", "dp/ledger/internal/store.ErrUnknown",
	"dp/ledger/internal/witness.ErrAbsent",
	"dp/local.ErrReport",
	"internal/dp/mechanism.ErrMismatch", "internal/dp/mechanism.ErrNotJoint", "internal/dp/mechanism.ErrReleased",
	"dp/noise.ErrEntropy",
	"dp/receipt.ErrInvalid",
	"evaluate.ErrImpure", "evaluate.ErrOverBudget", "evaluate.ErrRelease",
	"internal/evaluate/replay.ErrBroken", "internal/evaluate/replay.ErrUncovered",
	"internal/fleet.ErrFork", "internal/fleet.ErrReport", "internal/fleet.ErrSpec", "internal/fleet.ErrWeights",
	"internal/chromium.ErrUnavailable", "internal/filelock.ErrHeld",
	"internal/jcs.ErrForm",
	"internal/papers/figure.ErrBusy", "internal/papers/figure.ErrDir", "internal/papers/figure.ErrItem", "internal/papers/figure.ErrJob", "internal/papers/figure.ErrStale",
	"internal/parquet.ErrColumn", "internal/parquet.ErrEmpty", "internal/parquet.ErrFormat", "internal/parquet.ErrValue",
	"internal/pgtest.ErrUnavailable",
	"internal/schema.ErrInvalid",
	"internal/fleet/aggregator.ErrDiverged", "fleet/device.ErrClock", "fleet/device.ErrIdentity", "fleet/device.ErrWallet", "internal/fleet/store.ErrFence", "internal/fleet/transcript.ErrWrong",
	"internal/service.ErrAnonymous", "internal/service.ErrAway", "internal/service.ErrRevoked", "internal/service/database.ErrRoom", "internal/service/database.ErrSchema",
	"internal/signature.ErrEnvelope", "internal/signature.ErrForeign", "internal/signature.ErrSignature", "internal/signature.ErrUnsigned",
	"internal/xmath.ErrIntegration",
	"internal/boundedfile.ErrUnfit", "internal/evaluation.ErrNotWritten", "internal/verify.ErrRelease",
	"internal/report.ErrRelease",
	"internal/rl/sim/simtest.ErrSensor",
	"rl/learn.ErrDiverged",
	"rl/trajectory.ErrColumn", "rl/trajectory.ErrEmpty", "rl/trajectory.ErrEpisode", "rl/trajectory.ErrFormat", "rl/trajectory.ErrValue",
	"scale.ErrEngine",
	"serve/internal/asks.ErrAudit", "serve/internal/asks.ErrLost", "serve/internal/asks.ErrNone", "serve/internal/asks.ErrState", "serve/internal/tokens.ErrBusy",
	"train.ErrDiverged", "train.ErrForfeited", "train.ErrTask", "internal/train/ledgerwallet.ErrGone", "train/simulate.ErrInUse",
}

// TestEverySentinelSaysItsClass: what is nobody's to mend is listed above, and
// nothing else is.
func TestEverySentinelSaysItsClass(t *testing.T) {
	found := map[string]bool{}
	marked := 0
	for _, s := range sources(t) {
		if s.test || s.pkg == "internal/fault" {
			continue
		}
		for name, call := range sentinels(s.file) {
			name = s.pkg + "." + name
			switch call {
			case "errors.New":
				found[name] = true
				if !slices.Contains(unmarked, name) {
					t.Errorf("%s: %s has no class: make it with fault.Input (exit code 2) or fault.Refused (3), or list it as unmarked (1)", s.path, name)
				}
			case "fault.Input", "fault.Refused":
				marked++
			case "fmt.Errorf", "": // wraps another, or is another's
			default:
				t.Errorf("%s: %s is made by %s, of which this test knows nothing", s.path, name, call)
			}
		}
	}
	for _, name := range unmarked {
		if !found[name] {
			t.Errorf("%s is listed as unmarked and is not", name)
		}
	}
	if marked < 40 {
		t.Errorf("only %d marked sentinels found: the walk is broken", marked)
	}
	if t.Failed() {
		t.Logf("%q", slices.Sorted(maps.Keys(found)))
	}
}

// sentinels are the exported errors of a file, with the function that makes each.
func sentinels(f *ast.File) map[string]string {
	all := map[string]string{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if !strings.HasPrefix(name.Name, "Err") || i >= len(v.Values) {
					continue
				}
				all[name.Name] = maker(v.Values[i])
			}
		}
	}
	return all
}

func maker(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "a function of its own"
	}
	if pkg, ok := sel.X.(*ast.Ident); ok {
		return pkg.Name + "." + sel.Sel.Name
	}
	return sel.Sel.Name
}
