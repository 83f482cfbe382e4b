package yamlfile

import (
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// The defaults of the rule, beside those of package device.
const (
	ruleEpisodes     = 5
	rulePerturbation = .5
)

// auto tells whether a key leaves the choice to the rule.
func auto(word string) bool { return word == "" || word == "auto" }

// Recipe is that of the configuration.
func (t Train) Recipe() (simulate.Recipe, error) {
	_, spec, err := t.Environment.all()
	if err != nil {
		return simulate.Recipe{}, err
	}
	_, r, err := t.chosen(spec)
	return r, err
}

// chosen is the configuration with all choices made.
//
// What is stated stands, and what is stated of one side decides the other: a mechanism for
// vectors, or a key that gradients alone have, asks for the policy gradient, one-bit or a perturbation for
// pairs. Where neither is stated the rule of recommended decides.
func (t Train) chosen(spec sim.Spec) (Train, simulate.Recipe, error) {
	epsilon, err := t.Privacy.report()
	if err != nil {
		return t, simulate.Recipe{}, err
	}
	net, err := learn.NewMLP(t.network(spec))
	if err != nil {
		return t, simulate.Recipe{}, err
	}
	r := simulate.Recipe{Epsilon: epsilon, Weights: net.Dim()}
	y, p := &t.Local, &t.Privacy
	free := auto(string(p.Mechanism))
	if auto(y.Method) {
		r.Chosen = append(r.Chosen, "local.method")
		y.Method = string(t.method(epsilon, net.Dim(), free))
	}
	r.Method = device.Method(y.Method)
	if free {
		r.Chosen = append(r.Chosen, "privacy.mechanism")
		p.Mechanism = signal(epsilon)
		if r.Method == device.Evolution || r.Method == device.Antithetic {
			p.Mechanism = train.OneBit
		}
	}
	r.Mechanism = p.Mechanism
	if y.Episodes == 0 {
		y.Episodes = 1
		if y.Steps <= 1 && (r.Method == device.Antithetic || r.Method == device.PolicyGradient) {
			r.Chosen = append(r.Chosen, "local.episodes")
			y.Episodes = ruleEpisodes
		}
	}
	r.Episodes = y.Episodes
	if y.Perturbation == 0 && r.Method == device.Antithetic {
		r.Chosen = append(r.Chosen, "local.perturbation")
		y.Perturbation = rulePerturbation
	}
	return t, r, nil
}

// method is what agents learn by where the configuration does not say it; free tells that it does not
// name a mechanism either.
func (t Train) method(epsilon float64, weights int, free bool) device.Method {
	y := t.Local
	switch {
	case !free && t.Privacy.Mechanism != train.OneBit:
		return device.PolicyGradient
	case !free || y.Perturbation != 0:
		return device.Antithetic
	case y.Gamma != nil || y.Entropy != 0 || y.ValueWeight != nil || y.Steps > 1 || y.Optimizer != (train.Optimizer{}) || !(y.Reward == "" || y.Reward == "own"):
		return device.PolicyGradient
	}
	m, _ := recommended(epsilon, weights)
	return m
}

// network is the policy, without the value head that a method may add.
func (t Train) network(spec sim.Spec) learn.Network {
	return learn.Network{Inputs: len(spec.Columns), Actions: spec.Actions, Hidden: t.Network.Hidden, Bias: t.Network.Bias}
}
