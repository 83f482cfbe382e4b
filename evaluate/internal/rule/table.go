package rule

// Table is, of sums by state and action, the action with the largest in every state.
func Table(sums []float64, actions int) []int {
	out := make([]int, len(sums)/actions)
	for s := range out {
		out[s] = largest(sums[s*actions : (s+1)*actions])
	}
	return out
}
