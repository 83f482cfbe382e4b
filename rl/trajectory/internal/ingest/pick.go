package ingest

import (
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// maxWidth is the longest list that is read.
const maxWidth = 1 << 20

// advice is what to do about a value that is no number, by block.
var advice = [blocks]string{
	blkStep:       "for dates set data.steps: {kind: date, sort: true}, with format: \"%d.%m.%Y\" or the like where they are not as 2024-01-31",
	blkObs:        "list its public values in data.encode",
	blkAction:     "list the words of the actions in data.actions, such as [placebo, treated]",
	blkReward:     "say in data.encode which number each word stands for",
	blkTerminated: "say in data.encode which words mean true and which false",
	blkTruncated:  "say in data.encode which words mean true and which false",
	blkNext:       "list its public values in data.encode",
}

// pick asks for a field of one number, or for a list of width one.
func (x *binder) pick(field, block int) error {
	p := table.Pick{Field: field, Block: block, Offset: x.b.width[block], Found: block == blkObs && x.o.Observations == nil, Part: x.part(block), Advice: advice[block]}
	var err error
	if p.List, err = x.single(field); err != nil {
		return err
	}
	x.b.picks = append(x.b.picks, p)
	x.use(field, block, x.fields[field].Name)
	return nil
}

// part tells whether a block is read because the file has it, and nobody needs it.
func (x *binder) part(block int) bool {
	switch block {
	case blkStep, blkTerminated, blkTruncated, blkProbs:
		return true
	case blkAction:
		return x.o.Need&trajectory.Action == 0
	case blkBehavior:
		return x.o.Need&trajectory.BehaviorProb == 0
	case blkTarget:
		return x.o.Need&trajectory.TargetProb == 0
	case blkDiscount:
		return x.o.Need&trajectory.Discount == 0
	}
	return false
}

// single checks that a field holds one number a row, and tells how long its lists
// are, 0 for none.
func (x *binder) single(field int) (int, error) {
	if !x.fields[field].List {
		return 0, nil
	}
	w, err := x.t.Width(field)
	if err == nil && w != 1 {
		err = x.fail(x.fields[field].Name, "holds lists, where one number a row is wanted", "split it into columns")
	}
	return w, err
}

func (x *binder) use(field, block int, name string) {
	x.used[field] = true
	x.b.column[block] = append(x.b.column[block], name)
	x.b.width[block]++
}

// list asks for a list field and gives its width.
func (x *binder) list(field, block int) (int, error) {
	w, err := x.t.Width(field)
	if err != nil {
		return 0, err
	}
	if w > maxWidth {
		return 0, x.fail(x.fields[field].Name, "its lists are longer than "+strconv.Itoa(maxWidth), "reduce the dimension first")
	}
	if w == 0 {
		return 0, x.fail(x.fields[field].Name, "its first list is empty", "give every row a list of the same length")
	}
	x.b.picks = append(x.b.picks, table.Pick{Field: field, Block: block, Offset: x.b.width[block], List: w, Found: block == blkObs && x.o.Observations == nil, Part: x.part(block)})
	for range w {
		x.use(field, block, x.fields[field].Name)
	}
	return w, nil
}
