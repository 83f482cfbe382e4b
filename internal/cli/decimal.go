package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// decimal is a flag that holds a number as people write it. Go's own reading takes 1_0 for
// 10, 0470 for 312 and 0x1p3 for 8: a slip in a budget would pass for another one.
type decimal struct{ pflag.Value }

var errDecimal = errors.New("write a decimal number without underscores, leading zeros or another base")

// Set implements [pflag.Value].
func (d decimal) Set(text string) error {
	digits := strings.TrimLeft(text, "+-")
	led := len(digits) > 1 && digits[0] == '0' && !strings.ContainsRune(".eE", rune(digits[1]))
	if led || strings.Contains(text, "_") {
		return errDecimal
	}
	return d.Value.Set(text)
}

// decimals makes every number among the flags of a command, and of those below it, one.
func decimals(cmd *cobra.Command) {
	each := func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "float64", "int", "int32", "int64", "uint", "uint32", "uint64":
			if _, already := f.Value.(decimal); !already {
				f.Value = decimal{f.Value}
			}
		}
	}
	cmd.Flags().VisitAll(each)
	cmd.PersistentFlags().VisitAll(each)
	for _, sub := range cmd.Commands() {
		decimals(sub)
	}
}
