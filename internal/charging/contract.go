package charging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/jcs"
	"github.com/discreet-rl/discreet/internal/spec"
)

// agreed is a contract as it was stored.
type agreed struct {
	*ledger.Contract // nil where there is none
	tree             map[string]any
	methods          []string // that it allows; none for all
	checks           int      // that may fail
}

// Terms are what a contract says of charges and checks.
type Terms struct {
	// Version is that of the contract, 0 without one.
	Version int64
	// FailedChecks is how many may fail before the steward has to clear them.
	FailedChecks int
}

func agreedIn(body *ledger.Contract) (*agreed, error) {
	a := &agreed{Contract: body, checks: ledger.DefaultFailedChecks}
	if body == nil {
		return a, nil
	}
	stored := struct {
		Contract struct {
			Methods      []string `json:"methods"`
			FailedChecks int      `json:"failed_checks"`
		} `json:"contract"`
	}{}
	if err := errors.Join(json.Unmarshal(body.Terms, &a.tree), json.Unmarshal(body.Terms, &stored)); err != nil {
		return nil, fmt.Errorf("%w: version %d cannot be read: %w", ledger.ErrContract, body.Number, err)
	}
	spec.Prune(a.tree)
	a.methods = stored.Contract.Methods
	if k := stored.Contract.FailedChecks; k > 0 {
		a.checks = k
	}
	return a, nil
}

// keepsTo refuses, before the data are opened, a configuration that differs from the
// contract, and names the keys. The terms need not be repeated.
func (a *agreed) keepsTo(c config.Config) error {
	if a.Contract == nil {
		return nil
	}
	mine, err := spec.ComparedTerms(c)
	if err != nil {
		return err
	}
	if c.Contract == nil {
		if mine["contract"] = a.tree["contract"]; mine["contract"] == nil {
			delete(mine, "contract")
		}
	}
	theirs, err := leaves(a.tree)
	if err != nil {
		return err
	}
	own, err := leaves(mine)
	if err != nil {
		return err
	}
	var differ []string
	for key, value := range own {
		if theirs[key] != value {
			differ = append(differ, key)
		}
	}
	for key := range theirs {
		if _, there := own[key]; !there {
			differ = append(differ, key)
		}
	}
	if len(differ) > 0 {
		slices.Sort(differ)
		return fmt.Errorf("%w: the configuration differs from version %d in %s; only the steward sets these keys: use the contract's values (`discreet ledger contract LEDGER` prints them), or ask the steward for a new version", ledger.ErrContract, a.Number, strings.Join(differ, ", "))
	}
	return a.allows(c)
}

// allows refuses a method that the contract does not list.
func (a *agreed) allows(c config.Config) error {
	if m := a.methods; len(m) > 0 && !slices.Contains(m, c.Method.Name) {
		return fmt.Errorf("%w: version %d does not allow method %s; choose one of %s", config.ErrConfig, a.Number, c.Method.Name, strings.Join(m, ", "))
	}
	return nil
}

// leaves lists the values of a tree, as canonical JSON, by their dotted keys.
func leaves(tree map[string]any) (map[string]string, error) {
	out := map[string]string{}
	var walk func(prefix string, tree map[string]any) error
	walk = func(prefix string, tree map[string]any) error {
		for key, value := range tree {
			if below, ok := value.(map[string]any); ok {
				if err := walk(prefix+key+".", below); err != nil {
					return err
				}
				continue
			}
			text, err := json.Marshal(value)
			if err == nil {
				text, err = jcs.Canonical(text)
			}
			if err != nil {
				return fmt.Errorf("%w: %s%s: %w", config.ErrConfig, prefix, key, err)
			}
			out[prefix+key] = string(text)
		}
		return nil
	}
	return out, walk("", tree)
}

// SetContract stores the steward's part of a configuration as the contract of a
// dataset, in the ledger at the location.
func SetContract(ctx context.Context, c config.Config, location, dataset, reason string) (*ledger.Contract, error) {
	if err := spec.CheckStewardPart(c); err != nil {
		return nil, err
	}
	l, err := ledger.Open(ctx, location, dataset)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	guarantee, err := spec.Guarantee(c)
	if err != nil {
		return nil, err
	}
	if o := l.Opening(); guarantee.Adjacency != o.Adjacency {
		return nil, fmt.Errorf("%w: privacy.adjacency is %v, and the ledger of dataset %q is kept under %v; no version can change it", ledger.ErrAdjacency, guarantee.Adjacency, o.Dataset, o.Adjacency)
	} else if guarantee.Unit.String() != o.Unit {
		return nil, fmt.Errorf("%w: privacy.unit is %v, and the ledger of dataset %q is kept for one %v; no version can change it", ledger.ErrUnit, guarantee.Unit, o.Dataset, o.Unit)
	}
	tree, err := spec.ContractTerms(c)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", config.ErrConfig, err)
	}
	return l.SetContract(ctx, text, reason)
}

// CheckContract holds the steward's part of a configuration against the contract in force
// of a ledger, if there is one: nil where they agree. The error, which wraps
// [ledger.ErrContract], names the keys in which they differ.
func CheckContract(ctx context.Context, c config.Config, l *ledger.Ledger) error {
	g, err := inForce(ctx, l)
	if err != nil {
		return err
	}
	g.methods = nil // which methods may be asked for is not the question
	return g.keepsTo(c)
}

// inForce is the contract of a ledger.
func inForce(ctx context.Context, l *ledger.Ledger) (*agreed, error) {
	body, err := l.Contract(ctx)
	if err != nil {
		return nil, err
	}
	return agreedIn(body)
}

// Contracted holds the evaluation against the contract of its ledger, and against the
// checks that failed.
func (a *Account) Contracted(ctx context.Context) (Terms, error) {
	g, err := a.agree(ctx)
	if err != nil {
		return Terms{}, err
	}
	return a.under(ctx, g)
}

// agree holds the evaluation against the contract of its ledger.
func (a *Account) agree(ctx context.Context) (*agreed, error) {
	g, err := inForce(ctx, a.Ledger)
	if err != nil {
		return nil, err
	}
	return g, g.keepsTo(a.Spec.Config)
}

// under is what a contract says of the evaluation's charges and checks. It asks whether
// there may be one more check.
func (a *Account) under(ctx context.Context, g *agreed) (Terms, error) {
	terms := Terms{FailedChecks: g.checks}
	if g.Contract != nil {
		terms.Version = g.Number
	}
	if !a.AsOf.IsZero() {
		return terms, nil // whether checks have failed since is not told
	}
	return terms, a.Ledger.MayCheck(ctx, terms.FailedChecks)
}
