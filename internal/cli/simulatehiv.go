package cli

import (
	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/rl/sim/hiv"
	"github.com/discreet-rl/discreet/rl/sim"
)

// hivFlags are the words of the flags that choose a variant.
type hivFlags struct {
	o                                        hiv.Options
	actions, reward, start, patients, method string
	spread                                   float64
}

func newSimulateHIV() *cobra.Command {
	var r rolloutFlags
	var h hivFlags
	cmd := &cobra.Command{
		Use:   "hiv",
		Short: "Treatment of HIV by two drugs, decided every five days",
		Long: `Treatment of HIV by two drugs, decided every five days (Adams et al. 2004,
Ernst et al. 2006). Published implementations differ; the defaults are those of
Ernst et al., and the flags choose the others.`,
		Args: exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := h.resolve(cmd); err != nil {
				return err
			}
			return r.run(cmd, func() (sim.Env, error) { return hiv.New(h.o) })
		},
	}
	r.register(cmd, hiv.MaxSteps)
	h.register(cmd)
	return cmd
}

func (h *hivFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&h.actions, "action-order", "rti-first", "drug of action 1: rti-first or pi-first")
	f.StringVar(&h.reward, "reward-state", "decision", "state at which the reward is taken: decision or next")
	f.Float64Var(&h.o.PIWeight, "pi-weight", 2000, "price of the protease inhibitor in the reward; some use 20000")
	f.StringVar(&h.start, "start", "unhealthy", "unhealthy, healthy, uninfected or early-infection")
	f.Float64Var(&h.o.StartSpread, "start-spread", 0, "spread of the start, relative, 0 to 1")
	f.StringVar(&h.patients, "patients", "same", "same, randomised (k1, k2, f) or perturbed (twelve parameters by --spread)")
	f.Float64Var(&h.spread, "spread", 0.1, "spread of perturbed patients, relative, below 1")
	f.Float64Var(&h.o.Days, "days", 5, "days between decisions")
	f.BoolVar(&h.o.Log10, "log10", false, "observe decimal logarithms, at least -5")
	f.BoolVar(&h.o.UninfectedFirst, "uninfected-first", false, "order observations T1, T2, T1*, T2*, V, E")
	f.StringVar(&h.method, "method", "adaptive", "integration: adaptive, runge-kutta or euler")
	f.Float64Var(&h.o.Tolerance, "tolerance", 1e-8, "relative tolerance of the adaptive method")
	f.IntVar(&h.o.Substeps, "substeps", 0, "steps between decisions, for runge-kutta and euler")
}

// resolve turns the words into options.
func (h *hivFlags) resolve(cmd *cobra.Command) error {
	perturbed, err := hiv.Perturbed(h.spread)
	if err != nil {
		return usage(err)
	}
	if h.o.ActionOrder, err = choice(cmd, "action-order", h.actions, map[string]hiv.ActionOrder{
		"rti-first": hiv.RTIFirst, "pi-first": hiv.PIFirst,
	}); err != nil {
		return err
	}
	if h.o.RewardTime, err = choice(cmd, "reward-state", h.reward, map[string]hiv.RewardTime{
		"decision": hiv.AtDecision, "next": hiv.AfterStep,
	}); err != nil {
		return err
	}
	if h.o.Start, err = choice(cmd, "start", h.start, map[string]hiv.State{
		"unhealthy": hiv.Unhealthy(), "healthy": hiv.Healthy(), "uninfected": hiv.Uninfected(), "early-infection": hiv.EarlyInfection(),
	}); err != nil {
		return err
	}
	if h.o.Population, err = choice(cmd, "patients", h.patients, map[string]hiv.Population{
		"same": nil, "randomised": hiv.Randomised, "perturbed": perturbed,
	}); err != nil {
		return err
	}
	h.o.Method, err = choice(cmd, "method", h.method, map[string]hiv.Method{
		"adaptive": hiv.Adaptive, "runge-kutta": hiv.RungeKutta, "euler": hiv.ExplicitEuler,
	})
	return err
}
