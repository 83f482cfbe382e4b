package parquetfile

import "github.com/discreet-rl/discreet/rl/trajectory/internal/table"

// CutBy is Cut with pieces of a number of rows at least.
func CutBy(t table.Table, workers int, least int64) []func() (table.Stretch, error) {
	return t.(*reader).cut(workers, least)
}
