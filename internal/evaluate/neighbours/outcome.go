package neighbours

// timed makes a row one of an outcome, whose reward is the time: it ends by one of the listed
// events, or is censored, at a time within or beyond the bins; where the facts do not exclude
// it, now and then by what is no event.
func (s *Source) timed(d *decision) {
	if s.event < 0 {
		return
	}
	o := s.public.Outcome
	codes := append([]float64(nil), o.Censored...)
	for _, c := range o.Causes {
		codes = append(codes, c.Number)
	}
	if s.complete() {
		d.reward = max(d.reward, 0)
	} else if s.below(8) == 0 {
		codes = []float64{-1e9}
	}
	if s.below(4) == 0 {
		d.reward = pick(s, o.Ends...) * pick(s, 1, 1+1e-9, 2)
	}
	d.obs[s.event] = pick(s, codes...)
}
