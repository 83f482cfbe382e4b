package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/charging"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// dataset is a dataset that is ready to be asked about.
type dataset struct {
	Dataset
	name      string
	part      config.Config // the steward's
	location  string        // of the ledger
	ledger    *ledger.Ledger
	state     *shared[*ledger.Summary]
	toldState *shared[*ledger.Summary] // as analysts may know it; nil for all of it
	desk      *charging.Desk
	approval  approvalRule
	every     time.Duration
	open, end time.Time
	facts     []byte // public, as JSON
	methods   []string
	unit      string
	adjacency string
	other     *dp.Budget // of the ledger, where the configuration says another one
	asks      *asks.Store
	witness   string // of the ledger, as it is named there
	compared  comparison
}

// dataset reads the steward's part of a dataset, and where its ledger is.
func (c Config) dataset(name string) (*dataset, error) {
	d := &dataset{Dataset: c.Datasets[name], name: name}
	var err error
	if d.part, err = discreet.Load(c.path(d.Config)); err != nil {
		return nil, err
	}
	if err := d.stewardsPart(); err != nil {
		return nil, err
	}
	d.location = d.part.Ledger.Path
	if !strings.Contains(d.location, "://") && !filepath.IsAbs(d.location) {
		d.location = filepath.Join(d.part.Dir, d.location)
	}
	if d.part.Ledger.Dataset == "" {
		d.part.Ledger.Dataset = name
	}
	d.witness = c.witness(d.Witness)
	return d, nil
}

// openDataset reads the steward's part, looks for the columns of groups, begins the ledger and the contract where there never
// were any, and compares the ledger with the store and the contract.
func openDataset(ctx context.Context, c Config, name string, store *asks.Store) (*dataset, error) {
	d, err := c.dataset(name)
	if err != nil {
		return nil, err
	}
	d.asks = store
	if d.approval, err = d.Dataset.approval(); err != nil {
		return nil, err
	}
	if d.every, err = d.Dataset.every(); err != nil {
		return nil, err
	}
	if d.open, d.end, err = d.window(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{d.holdsGroups, d.beginLedger, d.openLedger, d.begin, d.beginContract, d.agree} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, d.close())
		}
	}
	return d, nil
}

// close closes the ledger, where it was opened.
func (d *dataset) close() error {
	if d.ledger == nil {
		return nil
	}
	return d.ledger.Close()
}

// stewardsPart refuses a configuration that asks something itself.
func (d *dataset) stewardsPart() error {
	p := d.part
	switch {
	case p.Target.Kind != "" || len(p.Targets) > 0 || p.Method.Name != "":
		return fmt.Errorf("%w: it asks a question; target, targets and method are the analysts'", ErrConfig)
	case p.Privacy.None || p.Privacy.Epsilon != 0 || p.Privacy.Delta != 0:
		return fmt.Errorf("%w: privacy holds unit, adjacency, noise and large_delta here; epsilon and delta are the analysts', up to largest_epsilon and largest_delta", ErrConfig)
	case p.Ledger == nil:
		return fmt.Errorf("%w: ledger is missing; nothing is answered without a budget", ErrConfig)
	case p.Ledger.Analyst != "" || p.Ledger.Purpose != "":
		return fmt.Errorf("%w: ledger.analyst and ledger.purpose are those of each ask", ErrConfig)
	case p.Justification != "":
		return fmt.Errorf("%w: justification is that of each ask", ErrConfig)
	case p.Output.Dir != "":
		return fmt.Errorf("%w: output.dir is not used; releases are kept in the ledger and in the store of the service", ErrConfig)
	}
	return nil
}

// beginLedger creates the ledger if a budget is given and there is none.
func (d *dataset) beginLedger(ctx context.Context) error {
	name := d.part.Ledger.Dataset
	l, err := ledger.Open(ctx, d.location, name)
	if err == nil {
		return errors.Join(d.sameBudget(ctx, l), l.Close())
	}
	missing := errors.Is(err, ledger.ErrNoDataset) || errors.Is(err, ledger.ErrNotLedger)
	if !missing {
		return err
	}
	if err := d.mayBegin(ctx, err); err != nil {
		return err
	}
	if d.Budget == nil {
		return fmt.Errorf("%w; begin it with discreet ledger init, or give budget here", err)
	}
	adjacency, err := dp.ParseAdjacency(d.part.Privacy.Adjacency)
	if err != nil {
		return err
	}
	l, err = ledger.Create(ctx, d.location, ledger.Config{
		Dataset: name, Unit: d.part.Privacy.Unit, Adjacency: adjacency, Budget: dp.Budget{Epsilon: d.Budget.Epsilon, Delta: d.Budget.Delta},
		Witness: d.witness,
	})
	if err != nil {
		return err
	}
	return l.Close()
}

// sameBudget notes in other what the ledger's budget is, where the configuration begins one with another.
func (d *dataset) sameBudget(ctx context.Context, l *ledger.Ledger) error {
	if d.Budget == nil {
		return nil
	}
	state, err := l.State(ctx)
	if err == nil && state.Budget != (dp.Budget{Epsilon: d.Budget.Epsilon, Delta: d.Budget.Delta}) {
		d.other = &state.Budget
	}
	return err
}

// openLedger opens the ledger that is asked and charged from now on.
func (d *dataset) openLedger(ctx context.Context) error {
	l, err := ledger.Open(ctx, d.location, d.part.Ledger.Dataset)
	if err != nil {
		return err
	}
	d.ledger, d.desk = l, charging.NewDesk(l)
	d.desk.Columns = slices.Concat(d.PolicyColumns, d.GroupColumns)
	if d.every > 0 {
		d.desk.AsOf = d.lastTold
		d.toldState = newShared(func(ctx context.Context) (*ledger.Summary, error) {
			if err := d.inOrder(ctx); err != nil {
				return nil, err
			}
			return l.StateAt(ctx, d.lastTold())
		})
	}
	d.state = newShared(func(ctx context.Context) (*ledger.Summary, error) {
		if err := d.inOrder(ctx); err != nil {
			return nil, err
		}
		return l.State(ctx)
	})
	d.unit, d.adjacency = l.Opening().Unit, l.Opening().Adjacency.String()
	return nil
}

// holdsGroups refuses columns of groups that the data do not have. What else is wrong with the data
// is told with the asks that read them.
func (d *dataset) holdsGroups(ctx context.Context) error {
	if len(d.GroupColumns) == 0 {
		return nil
	}
	s, err := spec.ForCurator(d.part)
	if err == nil {
		_, err = scan.Columns(ctx, s, d.GroupColumns)
	}
	var fault *trajectory.InputError
	if !errors.As(err, &fault) || !errors.Is(fault, trajectory.ErrColumn) || !slices.Contains(d.GroupColumns, fault.Column) {
		return nil
	}
	return fmt.Errorf("%w: group_columns: %w", ErrConfig, fault)
}

// lastTold is the last full time at which ends were told.
func (d *dataset) lastTold() time.Time {
	now, step := time.Now().UnixMicro(), d.every.Microseconds()
	return time.UnixMicro(now - now%step).UTC()
}

// beginContract stores the steward's part as the first version of the contract.
func (d *dataset) beginContract(ctx context.Context) error {
	body, err := d.ledger.Contract(ctx)
	if err == nil && body == nil {
		body, err = charging.SetContract(ctx, d.part, d.location, d.part.Ledger.Dataset, "")
	}
	if err != nil {
		return err
	}
	return d.publish(body.Terms)
}

// publish keeps of a contract what analysts may see: all but where the data are, and which further columns their questions may name.
func (d *dataset) publish(terms json.RawMessage) error {
	var tree map[string]any
	if err := json.Unmarshal(terms, &tree); err != nil {
		return fmt.Errorf("%w: contract: %w", ErrConfig, err)
	}
	if data, ok := tree["data"].(map[string]any); ok {
		delete(data, "path")
		if o, ok := data["outcome"].(map[string]any); ok {
			delete(o, "path")
		}
		if b, ok := data["behavior"].(map[string]any); ok {
			delete(b, "path")
		}
	}
	if c, ok := tree["contract"].(map[string]any); ok {
		if methods, ok := c["methods"].([]any); ok {
			for _, m := range methods {
				d.methods = append(d.methods, fmt.Sprint(m))
			}
		}
		delete(tree, "contract")
	}
	var err error
	for name, columns := range map[string][]string{"policy_columns": d.PolicyColumns, "group_columns": d.GroupColumns} {
		if len(columns) > 0 {
			tree[name] = columns
		}
	}
	d.facts, err = json.Marshal(tree)
	return err
}

// agree refuses to start where the contract in force is another than the configuration
// says: every ask would be refused.
func (d *dataset) agree(ctx context.Context) error {
	return charging.CheckContract(ctx, d.part, d.ledger)
}
