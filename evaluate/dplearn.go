package evaluate

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/rule"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// DPLearn learns a policy, a tree over covariates for a single decision or a table over numbered
// states for any number of them, and certifies what it is worth. [Public.Target] stands for it: the uniform policy over
// the actions.
//
// A secret half of the persons, drawn afresh in every run, is learned from: a noisy mean, of
// several decisions one of each state, and for every level of the tree, or for the table, one
// noisy sum of weighted returns about it.
// The other half is asked for the differences between the learned policy and the logged one, and
// between it and every constant action, as several policies are: [DPIS]. A person is in one of
// the halves, so that both have the whole budget.
//
// Released: [Learned], and the differences as answers with 90% intervals: each lower limit holds
// with 95% by itself. Assumes: right logged probabilities. Unit: a person. Adjacency: either.
// Clip: l2, of the outcomes' public range times the cap on weights. Event: dp.Gaussian, that of
// one half. Proof: docs/proofs/learn.md.
type DPLearn struct {
	// Depth is that of the tree, 1 to 3; 0 means 2. Of numbered states a table is made.
	Depth int `json:"depth,omitempty"`
	// Bins is into how many equal parts the range of a covariate is cut, at whose ends a tree
	// may split; 0 means 8.
	Bins int `json:"bins,omitempty"`
	// Share is the share of persons who are learned from; 0 means one half.
	Share float64 `json:"share,omitempty"`
	// MaxWeight is the public cap on weights; 0 means as in [DPIS], and for what is learned
	// what suits the budget.
	MaxWeight float64 `json:"max_weight,omitempty"`
}

// Learned is a policy with its certificate.
type Learned struct {
	// Policy is the policy as a file of kind tree.
	Policy PolicyFile `json:"policy"`
	// OverLogged is what the policy is worth more than the logged one at least, and OverConstant
	// more than the best constant action, each with 95% confidence by itself.
	OverLogged   float64 `json:"over_logged_at_least"`
	OverConstant float64 `json:"over_best_constant_at_least"`
}

// PolicyFile is a decision tree in the form of docs/policies.md.
type PolicyFile struct {
	Schema    string        `json:"schema"`
	Kind      string        `json:"kind"`
	Inputs    []string      `json:"inputs"`
	Precision string        `json:"precision"`
	Nodes     []policy.Node `json:"nodes"`
}

const (
	defaultDepth    = 2
	mostDepth       = 3
	defaultRuleBins = 8
	mostRuleBins    = 64
	mostRuleActions = 8
	defaultLearnOn  = 0.5
	meanShare       = 0.04 // of what is learned from, for the mean
	valuesShare     = 0.2  // for the mean of every state, of several decisions
	learnedName     = "learned"
	loggedPolicy    = "logged"
	actionName      = "action %d"
)

// learnQuestion is all that is fixed before data are seen.
type learnQuestion struct {
	public  Public
	names   []string
	grid    rule.Grid      // of a tree
	states  feature.Finite // of a table; nil of a tree
	depth   int            // rounds of sums
	learnOn int64          // persons
	noise   []float64      // multipliers: of the mean, and of every round
	most    float64        // cap on weights
	judge   plannedAnswers // of the other half
	of      vouched
}

// Plan implements [Estimator].
func (m DPLearn) Plan(p Public) (*Plan, error) { return privately("dp-learn", m, p, m.draft) }

func (m DPLearn) draft(method string, p Public) (draft, error) {
	q, err := m.question(method, p)
	if err != nil {
		return draft{}, err
	}
	whole, err := multipliers(*p.Privacy, 1)
	if err != nil {
		return draft{}, err
	}
	s, err := q.about()
	if err != nil {
		return draft{}, err
	}
	s.facts["learned_from"] = q.learnOn
	if q.states == nil {
		s.facts["depth"], s.facts["bins"] = q.depth, q.grid.Bins
	}
	return draft{
		method: method, public: p, event: gaussians(whole...), prepare: q.prepare, outcome: q.again, summary: s, lowers: true, needsEnds: q.of.needsEnds, onMeans: q.of.stepwise, uncut: q.judge.guard.number == 0,
		drawn: dp.Composed{Events: []dp.Event{gaussians(q.noise...), q.judge.event}},
	}, nil
}

// question checks the parameters.
func (m DPLearn) question(method string, p Public) (learnQuestion, error) {
	q := learnQuestion{public: p, depth: 1}
	q.grid.Actions = p.Target.Actions()
	refuse := func(sentinel error, text string, args ...any) (learnQuestion, error) {
		return q, fmt.Errorf("%w: %s: "+text, append([]any{sentinel, method}, args...)...)
	}
	switch {
	case p.onPolicy():
		return refuse(ErrPublic, "the target stands for the policy that is learned, of which the number of actions is known; let it be uniform over these")
	case p.Target.Actions() < 2 || p.Target.Actions() > mostRuleActions:
		return refuse(ErrPublic, "the target has %d actions; want 2 to %d", p.Target.Actions(), mostRuleActions)
	case m.Share < 0 || m.Share >= 1:
		return refuse(ErrMethod, "share is %v; want the share of persons who are learned from, above 0 and below 1", m.Share)
	case !(p.Returns().Width() > 0):
		return refuse(ErrPublic, "the public range of a return is a single point; give problem.reward or problem.return a width")
	}
	if err := q.covariates(m, method); err != nil {
		return q, err
	}
	if p.decisions() > 1 && q.states == nil {
		return refuse(ErrPublic, "an episode has up to %d decisions, and trees are learned for one; give numbered states, or set problem.horizon or episode_horizon to 1 where that is so", p.decisions())
	}
	share := m.Share
	if share == 0 {
		share = defaultLearnOn
	}
	q.learnOn = int64(math.Round(share * float64(p.Persons)))
	rest := p.Persons - q.learnOn
	if p.Privacy.Adjacency == dp.AddRemoveOne { // halves are drawn person by person: fewer than this in one of a million runs
		rest = max(rest-int64(5*math.Sqrt(float64(p.Persons))/2)-1, 1)
	}
	if min(q.learnOn, rest) < 1 {
		return refuse(ErrPublic, "of %d persons %d are learned from and %d judge what is learned; want both", p.Persons, q.learnOn, rest)
	}
	before := meanShare
	if p.decisions() > 1 {
		before = valuesShare
	}
	shares := []float64{before}
	for round := range q.depth { // twice as much for each level, of whose nodes each has half of the persons
		shares = append(shares, (1-before)*float64(int(1)<<round)/float64(int(1)<<q.depth-1))
	}
	var err error
	if q.noise, err = multipliers(*p.Privacy, shares...); err != nil {
		return q, err
	}
	return q, q.judges(m, method, rest)
}

// covariates says over what the rule is made.
func (q *learnQuestion) covariates(m DPLearn, method string) error {
	f := q.public.Features
	if finite, ok := f.(feature.Finite); ok {
		if m.Depth != 0 || m.Bins != 0 {
			return fmt.Errorf("%w: %s: depth and bins are those of a tree, and numbered states have a table; leave them out", ErrMethod, method)
		}
		q.states, q.names = finite, finite.Columns()
		return nil
	}
	ranged, ok := f.(interface{ Ranges() []feature.Range })
	if !ok || ranged.Ranges() == nil {
		return fmt.Errorf("%w: %s: a tree asks about columns with public ranges; give features of kind columns, without intercept and products, or numbered states", ErrMethod, method)
	}
	depth, bins := m.Depth, m.Bins
	if depth == 0 {
		depth = defaultDepth
	}
	if bins == 0 {
		bins = defaultRuleBins
	}
	if depth < 1 || depth > mostDepth || bins < 2 || bins > mostRuleBins {
		return fmt.Errorf("%w: %s: depth is %d and bins is %d; want 1 to %d and 2 to %d", ErrMethod, method, depth, bins, mostDepth, mostRuleBins)
	}
	q.names, q.depth = f.Columns(), depth
	q.grid.Bins = bins
	for _, r := range ranged.Ranges() {
		q.grid.Lows, q.grid.Highs = append(q.grid.Lows, r.Low), append(q.grid.Highs, r.High)
	}
	if n := q.grid.Cells(1 << (depth - 1)); n > mostCells {
		return fmt.Errorf("%w: %s: covariates, bins, actions and depth make %d cells; want at most %d", ErrPublic, method, n, mostCells)
	}
	return nil
}

// judges plans what the other half is asked.
func (q *learnQuestion) judges(m DPLearn, method string, persons int64) error {
	// Of the learned policy a plan sees the number of its actions alone.
	t := &Targets{Policies: []NamedPolicy{{learnedName, q.public.Target}, {loggedPolicy, policy.Logged{}}}, Contrasts: [][2]string{{learnedName, loggedPolicy}}}
	for a := range q.grid.Actions {
		constant, err := policy.NewConstant(a)
		if err != nil {
			return err
		}
		name := fmt.Sprintf(actionName, a)
		t.Policies = append(t.Policies, NamedPolicy{name, constant})
		t.Contrasts = append(t.Contrasts, [2]string{learnedName, name})
	}
	p := q.public.judging(t, persons)
	q.of = narrowest(p)
	var err error
	is := DPIS{MaxWeight: m.MaxWeight}
	if q.judge, err = is.answersFor(method, p, q.of); err != nil {
		return err
	}
	largest := q.of.weights.largest
	if d := p.Design; d != nil && p.decisions() > 1 {
		largest = slices.Max(d.Ratios) // of one decision
	}
	q.most, err = affordableCap(method, p, m.MaxWeight, largest)
	return err
}

// clip is the largest norm of what a person adds to a round about the baseline. Of several
// decisions it is what as many would add that lie a quarter of the range away: more is cut.
func (q *learnQuestion) clip(base baseline) float64 {
	returns := q.public.Returns()
	centred := 1 - 1/float64(q.grid.Actions)
	if n := q.public.decisions(); n > 1 {
		return q.most * returns.Width() / 4 * math.Sqrt(centred*float64(n))
	}
	mean := base.of(0)
	return q.most * max(returns.Max-mean, mean-returns.Min) * math.Sqrt(centred*float64(max(q.grid.Covariates(), 1)))
}

// baseline is what returns are compared with: one number, or one for each state.
type baseline []float64

func (b baseline) of(state int) float64 { return b[min(state, len(b)-1)] }

// firstCells is the number of sums that the baseline is made of.
func (q *learnQuestion) firstCells() int {
	if q.public.decisions() == 1 {
		return 1
	}
	return 2 * q.states.States()
}

// first writes what a row adds to the baseline's sums, which a person's rows add up to a norm of
// 1 at most: its return about the middle of the range and, of several decisions, the row, by
// state.
func (q *learnQuestion) first(v []float64, rows learnRows, row int) {
	returns := q.public.Returns()
	x := rows.part[row] * (rows.returns[row] - returns.Mid()) / (returns.Width() / 2)
	if len(v) == 1 {
		v[0] += x
		return
	}
	scale := 1 / (math.Sqrt2 * float64(q.public.decisions()))
	state := rows.bins[row][0]
	v[2*state] += x * scale
	v[2*state+1] += rows.part[row] * scale
}

// baseline is made of the noisy sums: the mean return, or that of each state, where noise does
// not drown the number of its visits, and of all where it does.
func (q *learnQuestion) baseline(noisy []float64) baseline {
	returns := q.public.Returns()
	value := func(x, n float64) float64 { return q.returned(returns.Mid() + returns.Width()/2*x/n) }
	if len(noisy) == 1 {
		return baseline{value(noisy[0], float64(q.learnOn))}
	}
	x, n := 0.0, 0.0
	for s := 0; s < len(noisy); s += 2 {
		x, n = x+noisy[s], n+noisy[s+1]
	}
	all := value(x, max(n, q.noise[0]))
	b := make(baseline, len(noisy)/2)
	for s := range b {
		if b[s] = all; noisy[2*s+1] > 2*q.noise[0] {
			b[s] = value(noisy[2*s], noisy[2*s+1])
		}
	}
	return b
}

// decisions are what is learned from: the place of each row's covariates, its action, weight and
// return, and what part of its person it is.
type learnRows struct {
	bins    [][]int // of covariates; the state alone of a table, nil where there is none
	action  []int32
	weight  []float64
	returns []float64
	part    []float64
	from    []int // by person
}

// prepare binds the plan to data. Whatever may fail, fails here.
func (q learnQuestion) prepare(_ context.Context, d *trajectory.Dataset) (draw, error) {
	rows, err := q.read(d)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, src *noise.Source) (*Release, error) {
		learn, judge := q.halves(d, src)
		sums, err := q.learn(rows, learn, src)
		if err != nil {
			return nil, err
		}
		nodes := q.rule(sums)
		learned, err := policy.NewTree(q.names, nodes, false)
		if err != nil {
			return nil, err
		}
		ask, err := prepareAnswers(q.judge.public.withFirst(learned), q.judge.answers, q.of, d.Take(judge))
		if err != nil {
			return nil, err
		}
		r, err := ask(ctx, src)
		if err != nil {
			return nil, err
		}
		return q.certified(r, sums), nil
	}, nil
}

// read checks that every policy can be asked about every row, so that nothing fails once noise
// is drawn.
func (q *learnQuestion) read(d *trajectory.Dataset) (learnRows, error) {
	all, err := samples(d, q.judge.public)
	if err != nil {
		return learnRows{}, err
	}
	if _, err := policy.NewTree(q.names, rule.TableNodes(q.names[0], []int{0}, q.grid.Actions), false); err != nil {
		return learnRows{}, err
	}
	s := all[0]
	rows := learnRows{from: []int{0}}
	columns := make([]int, len(q.names))
	for i, name := range q.names {
		if columns[i] = d.Column(name); columns[i] < 0 {
			return rows, fmt.Errorf("%w: features: the data were read without %s", ErrData, name)
		}
	}
	for person := range d.Persons() {
		from, to := s.Episodes(person)
		for e := from; e < to; e++ {
			if !s.Cut(e, q.public.decisions()) {
				q.readEpisode(&rows, s, e, columns, 1/float64(d.Counted(person)))
			}
		}
		rows.from = append(rows.from, len(rows.action))
	}
	return rows, nil
}

// readEpisode adds the decisions of an episode that was not cut off, each with the return from
// then on.
func (q *learnQuestion) readEpisode(rows *learnRows, s *value.Sample, e int, columns []int, part float64) {
	lo, hi := s.Rows(e)
	returns := 0.0
	for row := hi - 1; row >= lo; row-- {
		returns = s.Data.Reward[row] + s.Gamma(row)*returns
		bins := q.place(s.Data.Observation(row), columns)
		if action := s.Data.Action[row]; bins != nil && action >= 0 && int(action) < q.grid.Actions {
			rows.bins, rows.action = append(rows.bins, bins), append(rows.action, action)
			rows.weight = append(rows.weight, min(1/(s.Data.BehaviorProb[row]+q.public.BehaviorPrecision), q.most))
			rows.returns, rows.part = append(rows.returns, q.returned(returns)), append(rows.part, part)
		}
	}
}

// place is the bins of covariates, or the state; nil where it cannot be read.
func (q *learnQuestion) place(observation []float64, columns []int) []int {
	bins := make([]int, len(columns))
	for i, c := range columns {
		x := observation[c]
		switch {
		case q.states == nil:
			bins[i] = q.grid.Bin(i, x)
		case x >= 0 && x < float64(q.states.States()):
			bins[i] = int(x)
		default:
			return nil
		}
	}
	return bins
}

// returned is a return cut to its public range.
func (q *learnQuestion) returned(g float64) float64 {
	returns := q.public.Returns()
	return min(max(g, returns.Min), returns.Max)
}

// halves draws who is learned from, and who judges, of d. It looks at nobody's record: under
// replace_one so many persons by lot, under add_remove_one each by a lot of their own, a hash of
// the name under a key that is drawn for this run and kept nowhere.
func (q *learnQuestion) halves(d *trajectory.Dataset, src *noise.Source) (learn, judge []int) {
	persons := d.Persons()
	if q.public.Privacy.Adjacency == dp.AddRemoveOne {
		lot := newLots(src)
		share := float64(q.learnOn) / float64(q.public.Persons)
		for person := range persons {
			if lot.of(d, person) < share {
				learn = append(learn, person)
			} else {
				judge = append(judge, person)
			}
		}
		return learn, judge
	}
	all := make([]int, persons)
	for i := range all {
		all[i] = i
	}
	for i := range int(q.learnOn) {
		j := i + int(src.Uint64n(uint64(persons-i)))
		all[i], all[j] = all[j], all[i]
	}
	slices.Sort(all[:q.learnOn])
	slices.Sort(all[q.learnOn:])
	return all[:q.learnOn], all[q.learnOn:]
}

// lots are numbers in [0, 1) of persons, by a secret key.
type lots struct{ key [32]byte }

func newLots(src *noise.Source) lots {
	var l lots
	for i := 0; i < len(l.key); i += 8 {
		binary.LittleEndian.PutUint64(l.key[i:], src.Uint64())
	}
	return l
}

// of is that of a person, by name or, of data without names, by place.
func (l lots) of(d *trajectory.Dataset, person int) float64 {
	name := strconv.Itoa(person)
	if d.PersonID != nil {
		name = d.PersonID[person]
	}
	h := hmac.New(sha256.New, l.key[:])
	h.Write([]byte(name))
	return float64(binary.LittleEndian.Uint64(h.Sum(nil))>>11) / (1 << 53)
}

// learn makes the rounds of sums over one half: of the baseline, then of the rule.
func (q *learnQuestion) learn(rows learnRows, persons []int, src *noise.Source) (sums [][]float64, err error) {
	var base baseline
	var t rule.Tree
	for round := range q.depth + 1 {
		clip := 1.0
		if round > 0 {
			clip = q.clip(base)
		}
		v := make([]float64, q.cells(round))
		sum, err := mechanism.NewVectorSum(len(v), clip, q.noise[round], q.public.Privacy.noise())
		if err != nil {
			return nil, err
		}
		noisy, err := mechanism.Total(sum, len(persons), func(i int) error {
			clear(v)
			for row := rows.from[persons[i]]; row < rows.from[persons[i]+1]; row++ {
				if round == 0 {
					q.first(v, rows, row)
				} else {
					q.add(v, t, rows, row, base)
				}
			}
			return sum.Add(v)
		}, src)
		if err != nil {
			return nil, err
		}
		sums = append(sums, noisy)
		switch {
		case round == 0:
			base = q.baseline(noisy)
		case q.states == nil:
			q.grid.Grow(&t, noisy, q.noise[round]*clip)
		}
	}
	return sums, nil
}

// cells is the number of sums of a round.
func (q *learnQuestion) cells(round int) int {
	switch {
	case round == 0:
		return q.firstCells()
	case q.states != nil:
		return q.states.States() * q.grid.Actions
	}
	return q.grid.Cells(1 << (round - 1))
}

// add writes what a row adds: by how much its return differs from the mean, weighted, under its
// action, in the cell of every covariate. What actions have in common does not matter to a
// choice among them, and is left out.
func (q *learnQuestion) add(v []float64, t rule.Tree, rows learnRows, row int, base baseline) {
	x, action := rows.part[row]*rows.weight[row]*(rows.returns[row]-base.of(rows.bins[row][0])), int(rows.action[row])
	common := x / float64(q.grid.Actions)
	write := func(cells []float64) {
		for a := range cells {
			cells[a] -= common
		}
		cells[action] += x
	}
	if q.states != nil {
		at := rows.bins[row][0] * q.grid.Actions
		write(v[at : at+q.grid.Actions])
		return
	}
	node := t.Node(rows.bins[row])
	for j, bin := range rows.bins[row] {
		at := q.grid.Cell(node, j, bin, 0)
		write(v[at : at+q.grid.Actions])
	}
}

// rule is the policy that follows from the sums.
func (q *learnQuestion) rule(sums [][]float64) []policy.Node {
	if q.states != nil {
		return rule.TableNodes(q.names[0], rule.Table(sums[1], q.grid.Actions), q.grid.Actions)
	}
	base := q.baseline(sums[0])
	var t rule.Tree
	for round, s := range sums[1:] {
		q.grid.Grow(&t, s, q.noise[1+round]*q.clip(base))
	}
	return q.grid.Nodes(t, q.names)
}
