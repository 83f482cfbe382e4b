package simulate

// FirstSuccess is the smallest n, from 1, for which the mean of scores n to
// n+window-1 is at least threshold; 0 if there is none (Ono and Takahashi 2020,
// equations 25 and 26).
func FirstSuccess(scores []float64, window int, threshold float64) int {
	if window < 1 {
		panic("train: FirstSuccess: window below 1")
	}
	sum := 0.0
	for i, s := range scores {
		sum += s
		if i >= window {
			sum -= scores[i-window]
		}
		if i >= window-1 && sum >= threshold*float64(window) {
			return i - window + 2
		}
	}
	return 0
}

// Retention is the mean over the last share, in (0, 1], of scores: how good the
// policy is in the end, which a first success does not tell. It is 0 without
// scores.
func Retention(scores []float64, share float64) float64 {
	if !(share > 0 && share <= 1) {
		panic("train: Retention: share outside (0, 1]")
	}
	last := max(min(len(scores), 1), int(share*float64(len(scores))))
	sum := 0.0
	for _, s := range scores[len(scores)-last:] {
		sum += s
	}
	return sum / float64(max(1, last))
}
