package ledger

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/dp/ledger/meter"
)

// Config is what a dataset's budget is kept by. All but the budget is fixed for
// the life of the ledger.
type Config struct {
	// Dataset names the dataset within its store.
	Dataset string
	// Unit is the unit of privacy; "person" if empty.
	Unit string
	// Adjacency says which datasets are neighbours. There is no default.
	Adjacency dp.Adjacency
	// Budget is what all charges of all analysts together must meet.
	Budget dp.Budget
	// Rule is the composition theorem; [account.GaussianDP] if zero.
	Rule account.Rule
	// Filter holds the choices of the rule. Its zero value sets aside, for charges that
	// the Gaussian or the Renyi rule cannot take, a quarter of epsilon and half of delta.
	// An accountant of one's own is refused: another process could not recompute its
	// charges.
	Filter account.FilterOptions
	// NoReserve keeps a zero Filter as it is: charges that the rule does not support are refused.
	NoReserve bool
	// OpenList lets analysts without a share charge, up to the budget, even where
	// others have one. Otherwise the first share closes the list of analysts: who
	// has none is refused with [ErrAnalyst].
	OpenList bool
	// RefuseCopies refuses charges for data that the store knows under another
	// dataset's name, and for data that are mostly of its units. Otherwise the grant
	// carries a warning.
	RefuseCopies bool
	// Witness, if it is set, is named from the beginning ([Ledger.AddWitness]). A place that
	// knows a ledger already is [ErrWitness]: that one was lost, and a new one would give its
	// budget back.
	Witness string
}

// defaultFilter sets aside, for charges that the Gaussian or the Renyi rule cannot
// take, a quarter of epsilon and half of delta. A charge that is neither pure nor
// (epsilon, delta) is converted at a sixteenth of the delta that it is charged
// to, so at most sixteen such charges fit.
func defaultFilter(rule account.Rule, budget dp.Budget) account.FilterOptions {
	if rule == account.Basic {
		return account.FilterOptions{ChargeDelta: budget.Delta / 16}
	}
	reserve := dp.Budget{Epsilon: budget.Epsilon / 4, Delta: budget.Delta / 2}
	return account.FilterOptions{Reserve: reserve, ChargeDelta: reserve.Delta / 16}
}

// body turns the configuration into the first entry of the chain.
func (c Config) body() (*chain.OpenBody, error) {
	if c.Unit == "" {
		c.Unit = "person"
	}
	if c.Rule == 0 {
		c.Rule = account.GaussianDP
	}
	for name, text := range map[string]string{"dataset": c.Dataset, "unit": c.Unit} {
		if err := plainText(name, text, true); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrConfig, err)
		}
	}
	if c.Filter.Accountant != nil {
		return nil, fmt.Errorf("%w: an accountant of one's own cannot be kept in a ledger; leave it out", ErrConfig)
	}
	if c.Filter.Reserve == (dp.Budget{}) && c.Filter.ChargeDelta == 0 && c.Filter.Order == 0 && !c.NoReserve {
		c.Filter = defaultFilter(c.Rule, c.Budget)
	}
	m, err := meter.New(c.Adjacency, c.Budget, c.Rule, c.Filter)
	if err != nil {
		return nil, err
	}
	id := make([]byte, 16)
	rand.Read(id) // never fails
	return &chain.OpenBody{
		Ledger: hex.EncodeToString(id), Dataset: c.Dataset, Unit: c.Unit, Adjacency: c.Adjacency, Budget: c.Budget,
		Rule: c.Rule.String(), Reserve: c.Filter.Reserve, ChargeDelta: c.Filter.ChargeDelta, Order: m.Order(),
		RefuseCopies: c.RefuseCopies, ClosedList: !c.OpenList,
	}, nil
}

// newMeter is the meter of a ledger that was opened with this first entry.
func newMeter(o *chain.OpenBody) (*meter.Meter, error) {
	rule, err := account.ParseRule(o.Rule)
	if err != nil {
		return nil, err
	}
	return meter.New(o.Adjacency, o.Budget, rule, account.FilterOptions{Reserve: o.Reserve, ChargeDelta: o.ChargeDelta, Order: o.Order})
}

// longest is the length in bytes that a name or a purpose may have.
const longest = 4096

// plainText refuses what a store or a terminal would mangle, and a second way to
// write what reads as the same name: shares and keys go by exact strings.
func plainText(name, text string, needed bool) error {
	switch {
	case needed && strings.TrimSpace(text) == "":
		return fmt.Errorf("%s is empty", name)
	case len(text) > longest:
		return fmt.Errorf("%s is longer than %d bytes", name, longest)
	case !utf8.ValidString(text):
		return fmt.Errorf("%s is not UTF-8", name)
	case strings.TrimSpace(text) != text:
		return fmt.Errorf("%s begins or ends with a space", name)
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%s holds characters that cannot be seen, such as control or format characters", name)
	case !norm.NFC.IsNormalString(text):
		return fmt.Errorf("%s is not in Unicode normal form C", name)
	}
	return nil
}
