package csvfile

import "github.com/discreet-rl/discreet/rl/trajectory/table"

// DivideBy is Divide with ranges of a number of bytes.
func DivideBy(t table.Table, workers int, batch func() *table.Batch, step int64) table.Table {
	return t.(*reader).divide(workers, batch, step)
}
