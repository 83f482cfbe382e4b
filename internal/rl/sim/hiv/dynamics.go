package hiv

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/rl/sim"
)

// The components of a state, in the order of [Env.State]: healthy and infected
// CD4+ lymphocytes, healthy and infected macrophages (cells/ml), free virus
// (copies/ml) and cytotoxic lymphocytes (cells/ml).
const (
	T1 = iota
	T1Star
	T2
	T2Star
	V
	E
	components
)

// State is a patient, in the order T1, T1*, T2, T2*, V, E.
type State = [components]float64

// Parameters are those of the model, in the units of Adams et al. (2004), table
// 1: days, millilitres, cells.
type Parameters struct {
	Lambda1, Lambda2 float64 // production of target cells
	D1, D2           float64 // their death
	F                float64 // effect of the first drug on macrophages, relative
	K1, K2           float64 // infection
	Delta            float64 // death of infected cells
	M1, M2           float64 // their clearance by immune response
	NT               float64 // virus produced by an infected cell
	C                float64 // natural death of virus
	Rho1, Rho2       float64 // virus used up by an infection
	LambdaE, BE, Kb  float64 // immune response: production, birth, its saturation
	DE, Kd, DeltaE   float64 // its impairment, saturation, natural death
}

// Adams2004 returns the parameters of Adams et al. (2004), which Ernst et al.
// (2006) use as well.
func Adams2004() Parameters {
	return Parameters{
		Lambda1: 10000, Lambda2: 31.98, D1: 0.01, D2: 0.01, F: 0.34, K1: 8e-7, K2: 1e-4, Delta: 0.7,
		M1: 1e-5, M2: 1e-5, NT: 100, C: 13, Rho1: 1, Rho2: 1,
		LambdaE: 1, BE: 0.3, Kb: 100, DE: 0.25, Kd: 500, DeltaE: 0.1,
	}
}

// check wants every parameter finite and not negative, and saturations above 0.
func (p Parameters) check() error {
	for _, v := range []float64{p.Lambda1, p.Lambda2, p.D1, p.D2, p.F, p.K1, p.K2, p.Delta, p.M1, p.M2,
		p.NT, p.C, p.Rho1, p.Rho2, p.LambdaE, p.BE, p.Kb, p.DE, p.Kd, p.DeltaE} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: hiv: a parameter of the model is %v; want finite numbers, 0 or above", sim.ErrOptions, v)
		}
	}
	if p.Kb == 0 || p.Kd == 0 {
		return fmt.Errorf("%w: hiv: Kb is %v and Kd %v; want both above 0", sim.ErrOptions, p.Kb, p.Kd)
	}
	return nil
}

// Derivative writes the rate of change per day to dst, of length 6, while the
// drugs act with efficacies epsilon1 (reverse transcriptase inhibitor) and
// epsilon2 (protease inhibitor), in [0, 1]: Adams et al. (2004), equation (2.1).
func (p *Parameters) Derivative(dst, s []float64, epsilon1, epsilon2 float64) {
	_, _ = dst[E], s[E]
	infect1 := (1 - epsilon1) * p.K1 * s[V] * s[T1]
	infect2 := (1 - p.F*epsilon1) * p.K2 * s[V] * s[T2]
	infected := s[T1Star] + s[T2Star]
	dst[T1] = p.Lambda1 - p.D1*s[T1] - infect1
	dst[T2] = p.Lambda2 - p.D2*s[T2] - infect2
	dst[T1Star] = infect1 - p.Delta*s[T1Star] - p.M1*s[E]*s[T1Star]
	dst[T2Star] = infect2 - p.Delta*s[T2Star] - p.M2*s[E]*s[T2Star]
	dst[V] = (1-epsilon2)*p.NT*p.Delta*infected - p.C*s[V] - p.Rho1*infect1 - p.Rho2*infect2
	dst[E] = p.LambdaE + p.BE*infected/(infected+p.Kb)*s[E] - p.DE*infected/(infected+p.Kd)*s[E] - p.DeltaE*s[E]
}

// The states from which episodes start in the literature.

// Unhealthy is a patient in the stable state of high viral load: the start of
// Ernst et al. (2006).
func Unhealthy() State { return State{163573, 11945, 5, 46, 63919, 24} }

// Healthy is a patient in the stable state in which the immune system keeps the
// virus low without drugs.
func Healthy() State { return State{967839, 76, 621, 6, 415, 353108} }

// Uninfected is a patient without virus.
func Uninfected() State { return State{1e6, 0, 3198, 0, 0, 10} }

// EarlyInfection is a patient just infected.
func EarlyInfection() State { return State{1e6, 1e-4, 3198, 1e-4, 1, 10} }
