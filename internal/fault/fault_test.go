package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/internal/fault"
)

var (
	errInput   = fault.Input("bad file")
	errRefused = fault.Refused("no budget")
)

// late is an error that counts as a failure whatever it wraps.
type late struct{ err error }

func (l late) Error() string      { return "too late: " + l.err.Error() }
func (l late) Unwrap() error      { return l.err }
func (l late) Fault() fault.Class { return fault.Failure }

func TestClassOfWrappedErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Class
	}{
		{nil, fault.None},
		{errors.New("anything"), fault.None},
		{errInput, fault.InputFault},
		{errRefused, fault.RefusedFault},
		{fmt.Errorf("a.csv:3: %w", fmt.Errorf("%w: x", errInput)), fault.InputFault},
		{fmt.Errorf("%w: %w", errors.New("x"), errInput), fault.InputFault},
		{errors.Join(errInput, errRefused), fault.RefusedFault},
		{errors.Join(errRefused, errInput), fault.RefusedFault},
		{errors.Join(nil, errInput), fault.InputFault},
		{late{errInput}, fault.Failure},
		{errors.Join(errRefused, late{errInput}), fault.Failure},
		{fmt.Errorf("x: %v", errInput), fault.None}, // told, not wrapped
	} {
		if got := fault.Of(c.err); got != c.want {
			t.Errorf("%v: class %d; want %d", c.err, got, c.want)
		}
	}
}

// Two sentinels of one text are two errors.
func TestSentinelsAreTheirOwn(t *testing.T) {
	if a, b := fault.Input("x"), fault.Input("x"); errors.Is(a, b) || !errors.Is(fmt.Errorf("y: %w", a), a) {
		t.Error("a sentinel is known by its text")
	}
}

func Example() {
	err := fmt.Errorf("trial.csv:7: %w: reward 3 is above 1", errInput)
	fmt.Println(fault.Of(err) == fault.InputFault, err)
	// Output: true trial.csv:7: bad file: reward 3 is above 1
}
