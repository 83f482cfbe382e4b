package csvfile

import "github.com/discreet-rl/discreet/rl/trajectory/internal/table"

// DivideBy is Divide with ranges of a number of bytes.
func DivideBy(t table.Table, workers int, batch func() *table.Batch, step int64) table.Table {
	return t.(*reader).divide(workers, batch, step)
}

// CutBy is Cut with stretches of a number of bytes.
func CutBy(t table.Table, workers int, step int64) []func() (table.Stretch, error) {
	return t.(*reader).cut(workers, step)
}
