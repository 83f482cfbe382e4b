package account

import "github.com/discreet-rl/discreet/dp"

// Choose composes event in the accountant that fits it best, and names it: the
// closed form where the answer is exact ("closed_form"), else privacy-loss
// distributions ("pld").
func Choose(adj dp.Adjacency, event dp.Event) (Accountant, string, error) {
	exact := NewClosedForm(adj)
	if exact.Compose(event, 1) == nil {
		return exact, "closed_form", nil
	}
	pld := NewPLD(adj)
	if err := pld.Compose(event, 1); err != nil {
		return nil, "", err
	}
	return pld, "pld", nil
}
