package discreet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/jcs"
)

// Terms is what a contract allows, besides fixing how the data are read.
type Terms struct {
	// Methods are the methods that may be asked for; an empty list allows all.
	Methods []string `yaml:"methods"`
	// FailedChecks is how many checks of the data may fail before the steward has to
	// clear them; 3 by default.
	FailedChecks int `yaml:"failed_checks"`
}

// question are the keys that whoever asks may choose. Every other key, and so every
// new one, is the steward's: it belongs to the contract.
var question = []string{"target", "targets", "levels", "contrasts", "select", "start", "method", "privacy.epsilon", "privacy.delta", "ledger", "output", "justification", "sign"}

// terms is the contract that a configuration keeps to: what it says without zeros,
// which is what contracts are compared by.
func (c Config) terms() (map[string]any, error) {
	tree, err := c.said()
	prune(tree)
	return tree, err
}

// said is a contract as it is stored and shown, as JSON of the keys that are the
// steward's. Paths are absolute, and of a policy's file the content counts too. A
// key that says nothing is left out.
func (c Config) said() (map[string]any, error) {
	files := make(Paths, len(c.Data.Path))
	for i, p := range c.Data.Path {
		abs, err := filepath.Abs(c.path(p))
		if err != nil {
			return nil, err
		}
		files[i] = abs
	}
	c.Data.Path = files
	if c.Privacy.Noise == "exact" {
		c.Privacy.Noise = "" // what is meant where nothing is said, as in contracts that do not have the key
	}
	tree, err := config.Tree(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if b := c.Data.Behavior; b != nil {
		if err := c.hashFile(tree, "data.behavior.path.content", "data.behavior.path", b.Path); err != nil {
			return nil, err
		}
	}
	// Whose guarantee hides which group a person is in, asks what anybody may ask.
	if c.By != nil && c.By.Group != byFixed {
		delete(tree, "by")
	}
	for _, key := range question {
		section, name, nested := strings.Cut(key, ".")
		if below, ok := tree[section].(map[string]any); nested && ok {
			delete(below, name)
		} else {
			delete(tree, section)
		}
	}
	leaveOut("", tree, func(section string, value any) bool {
		switch value.(type) {
		case int, float64:
			return !slices.Contains(numbers, section)
		}
		return true
	})
	return tree, nil
}

// numbers are the sections that are there only where they were written, and in which
// zero is a number like any other.
var numbers = []string{"problem.reward", "problem.return", "data.means", "features.scale"}

// entries are the sections whose keys are whatever was written: one that is there with
// a zero, such as a public mean of 0, is not as if it were not there.
var entries = []string{"data.columns", "data.means", "features.scale"}

// prune leaves out what says nothing: a key that a later program knows is not there
// before it is used.
func prune(tree map[string]any) {
	leaveOut("", tree, func(section string, _ any) bool { return !slices.Contains(entries, section) })
}

// leaveOut leaves out the empty values of a tree for which a test of their section
// says so.
func leaveOut(section string, tree map[string]any, empty func(section string, value any) bool) {
	for key, value := range tree {
		if below, ok := value.(map[string]any); ok {
			leaveOut(strings.TrimPrefix(section+"."+key, "."), below, empty)
		}
		v := reflect.ValueOf(value)
		nothing := !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
		if nothing && empty(section, value) {
			delete(tree, key)
		}
	}
}

// SetContract stores the steward's part of a configuration as the contract of a
// dataset, in the ledger at the location: every evaluation that is charged to it must
// then agree in every key but those of the question. A reason makes it a new version
// of the one in force; budget and losses stay. Unit and adjacency are the
// ledger's and cannot change.
func SetContract(ctx context.Context, c Config, location, dataset, reason string) (*chain.ContractBody, error) {
	if err := c.stewardly(); err != nil {
		return nil, err
	}
	l, err := ledger.Open(ctx, location, dataset)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	guarantee, err := c.guarantee()
	if err != nil {
		return nil, err
	}
	if o := l.Config(); guarantee.Adjacency != o.Adjacency {
		return nil, fmt.Errorf("%w: privacy.adjacency is %v, and the ledger of dataset %q is kept under %v; no version can change it", ledger.ErrAdjacency, guarantee.Adjacency, o.Dataset, o.Adjacency)
	} else if guarantee.Unit.String() != o.Unit {
		return nil, fmt.Errorf("%w: privacy.unit is %v, and the ledger of dataset %q is kept for one %v; no version can change it", ledger.ErrUnit, guarantee.Unit, o.Dataset, o.Unit)
	}
	tree, err := c.said()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return l.SetContract(ctx, text, reason)
}

// stewardly checks a configuration of which the steward's part is wanted.
func (c Config) stewardly() error {
	switch {
	case len(c.Data.Path) == 0:
		return fmt.Errorf("%w: data.path is missing; a contract says where the data are", ErrConfig)
	case c.Privacy.None:
		return fmt.Errorf("%w: privacy is none, and a contract is about what is charged; give privacy.adjacency and, unless it is person, privacy.unit", ErrConfig)
	case c.Contract != nil && c.Contract.FailedChecks < 0:
		return fmt.Errorf("%w: contract.failed_checks is %d; want 1 or more", ErrConfig, c.Contract.FailedChecks)
	}
	if c.Contract != nil {
		for _, name := range c.Contract.Methods {
			if _, err := evaluate.MethodNamed(name); err != nil {
				return fmt.Errorf("contract.methods: %w", err)
			}
		}
	}
	if c.Problem.Persons == 0 {
		return fmt.Errorf("%w: problem.persons is missing; a contract gives the public number, or under add_remove_one a public lower bound", ErrConfig)
	}
	if err := errors.Join(c.Data.Behavior.validate(false), c.validateRecords()); err != nil {
		return err
	}
	return c.checkNames()
}

// agreed is a contract as it was stored.
type agreed struct {
	*chain.ContractBody
	tree  map[string]any
	terms Terms
}

func agreedIn(body *chain.ContractBody) (*agreed, error) {
	a := &agreed{ContractBody: body, terms: Terms{FailedChecks: ledger.DefaultFailedChecks}}
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
	prune(a.tree)
	a.terms.Methods = stored.Contract.Methods
	if k := stored.Contract.FailedChecks; k > 0 {
		a.terms.FailedChecks = k
	}
	return a, nil
}

// keepsTo refuses, before the data are opened, a configuration that differs from the
// contract, and names the keys. The terms need not be repeated.
func (a *agreed) keepsTo(c Config) error {
	if a.ContractBody == nil {
		return nil
	}
	mine, err := c.terms()
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
func (a *agreed) allows(c Config) error {
	if m := a.terms.Methods; len(m) > 0 && !slices.Contains(m, c.Method.Name) {
		return fmt.Errorf("%w: version %d does not allow method %s; choose one of %s", ErrConfig, a.Number, c.Method.Name, strings.Join(m, ", "))
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
				return fmt.Errorf("%w: %s%s: %w", ErrConfig, prefix, key, err)
			}
			out[prefix+key] = string(text)
		}
		return nil
	}
	return out, walk("", tree)
}

// CheckContract holds the steward's part of a configuration against the contract in force
// of a ledger, if there is one: nil where they agree. The error, which wraps
// ledger.ErrContract, names the keys in which they differ.
func CheckContract(ctx context.Context, c Config, l *ledger.Ledger) error {
	body, err := l.Contract(ctx)
	if err != nil {
		return err
	}
	a, err := agreedIn(body)
	if err != nil {
		return err
	}
	a.terms.Methods = nil // which methods may be asked for is not the question
	return a.keepsTo(c)
}

// contracted holds the job against the contract of its ledger, and against the
// checks that failed.
func (j *job) contracted(ctx context.Context, l *ledger.Ledger) error {
	a, err := j.agree(ctx, l)
	if err != nil {
		return err
	}
	return j.under(ctx, l, a)
}

// agree holds the job against the contract of its ledger.
func (j *job) agree(ctx context.Context, l *ledger.Ledger) (*agreed, error) {
	body, err := l.Contract(ctx)
	if err != nil {
		return nil, err
	}
	a, err := agreedIn(body)
	if err != nil {
		return nil, err
	}
	return a, a.keepsTo(j.config)
}

// under takes over what a contract says of its charges and checks, and asks whether
// there may be one more check.
func (j *job) under(ctx context.Context, l *ledger.Ledger, a *agreed) error {
	if a.ContractBody != nil {
		j.version = a.Number
	}
	j.mayFail = a.terms.FailedChecks
	if !j.asOf.IsZero() {
		return nil // whether checks have failed since is not told
	}
	return l.MayCheck(ctx, j.mayFail)
}
