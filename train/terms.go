package train

import "fmt"

// Terms are what aggregator and agents agree on before the first task. All of it
// is public.
type Terms struct {
	// Dim is the number of weights.
	Dim int `json:"dim"`
	// Randomizer makes the reports.
	Randomizer Randomizer `json:"randomizer"`
	// Submissions closes the run when so many reports were accepted.
	Submissions uint64 `json:"submissions"`
	// Optimizer moves the weights.
	Optimizer Optimizer `json:"optimizer"`
	// Buffer is the number of reports that make an update, at least 1.
	Buffer int `json:"buffer"`
	// Growth is the share by which the buffer grows with every update, such as 0.01.
	Growth float64 `json:"growth,omitempty"`
	// Staleness is the number of updates that a report may be behind; negative means
	// any.
	Staleness int `json:"staleness"`
	// Grace is how many seconds after its task's deadline a report may arrive, for
	// agents send at the deadline and not before.
	Grace int64 `json:"grace,omitempty"`
	// Influence bounds what one report may do.
	Influence Influence `json:"influence"`
	// Printed scales the estimates of PRS as Ono and Takahashi (2020) print them,
	// M'u, instead of without bias.
	Printed bool `json:"printed,omitempty"`
}

func (t Terms) check() error {
	switch {
	case t.Dim < 1:
		return fmt.Errorf("%w: %d weights; want at least 1", ErrConfig, t.Dim)
	case t.Submissions < 1:
		return fmt.Errorf("%w: submissions is 0; want at least 1", ErrConfig)
	case t.Buffer < 1:
		return fmt.Errorf("%w: buffer is %d; want at least 1", ErrConfig, t.Buffer)
	case t.Grace < 0 || t.Grace > 1<<31:
		return fmt.Errorf("%w: grace is %d seconds; want 0 or more", ErrConfig, t.Grace)
	case !(t.Growth >= 0 && t.Growth <= 1):
		return fmt.Errorf("%w: growth is %v; want 0 to 1, such as 0.01", ErrConfig, t.Growth)
	case t.Printed && t.Randomizer.Mechanism != PRS:
		return fmt.Errorf("%w: printed scaling is that of %s alone", ErrConfig, PRS)
	}
	if err := t.Influence.check(); err != nil {
		return err
	}
	return t.Optimizer.Validate("optimizer")
}
