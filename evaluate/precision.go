package evaluate

import "fmt"

// largestPrecision is a whole coin's: whoever recorded less recorded nothing.
const largestPrecision = 0.5

// validatePrecision checks what is said of recorded probabilities.
func (p Public) validatePrecision() error {
	switch e := p.BehaviorPrecision; {
	case e == 0:
		return nil
	case !(e > 0 && e <= largestPrecision):
		return fmt.Errorf("%w: data.behavior.precision is %v; want how far a recorded probability may be from the true one, above 0 and at most %v", ErrPublic, e, largestPrecision)
	case p.regime() != recorded:
		return fmt.Errorf("%w: data.behavior.precision is about recorded probabilities, and those of the logged actions are known from elsewhere; leave it out", ErrPublic)
	}
	return nil
}

// roundable refuses rounded probabilities where the method would divide by them as they are.
func (d draft) roundable() error {
	p := d.public
	if p.BehaviorPrecision == 0 || d.lowers || !p.private() || p.onPolicy() {
		return nil
	}
	return fmt.Errorf("%w: %s does not allow for data.behavior.precision; use dp-is, dp-pdis, dp-wis, dp-dr or dp-distribution", ErrMethod, d.method)
}
