package gpope

// iterate is the position of the walk. All of it is post-processing of noisy
// sums.
type iterate struct {
	r        *Walk
	n        int
	x        []float64 // scaled theta, then scaled w
	velocity []float64 // nil without momentum
	mean     []float64 // of theta over the second half; nil without averaging
	theta, w []float64 // unscaled; they are x itself where every scale is 1
	scaled   bool
	from     int64 // the first step that is averaged
	low, top []float64
}

func (r *Walk) newIterate() *iterate {
	n := r.N
	x := &iterate{r: r, n: n, x: make([]float64, 2*n), from: r.Iterations/2 + 1}
	for j, s := range r.Scale {
		x.x[j] = r.Start / s
		x.scaled = x.scaled || s != 1
	}
	x.theta, x.w = x.x[:n], x.x[n:]
	if x.scaled {
		x.theta, x.w = make([]float64, n), make([]float64, n)
	}
	if r.Momentum > 0 {
		x.velocity = make([]float64, 2*n)
	}
	if r.Average {
		x.mean = make([]float64, n)
	}
	if r.Project {
		returns := r.Public.Returns
		x.low, x.top = make([]float64, n), make([]float64, n)
		for j, s := range r.Scale {
			x.low[j], x.top[j] = returns.Min/s, returns.Max/s
		}
	}
	return x
}

// unscaled brings theta and w up to date.
func (x *iterate) unscaled() {
	if !x.scaled {
		return
	}
	for j, s := range x.r.Scale {
		x.theta[j], x.w[j] = s*x.x[j], s*x.x[x.n+j]
	}
}

// step moves by a noisy sum of gradients, step i of N.
func (x *iterate) step(noisy []float64, i int64) {
	factor := x.r.Schedule.factor(i) / x.r.Scheme.Expected
	move := noisy
	if x.velocity != nil {
		for j, v := range noisy {
			x.velocity[j] = x.r.Momentum*x.velocity[j] + v
		}
		move = x.velocity
	}
	n := x.n
	rate := factor * x.r.StepTheta
	for j, v := range move[:n] {
		x.x[j] -= rate * v
	}
	rate = factor * x.r.StepW
	for j, v := range move[n:] {
		x.x[n+j] -= rate * v
	}
	for j := range x.low {
		x.x[j] = min(max(x.x[j], x.low[j]), x.top[j])
	}
	if x.mean != nil && i >= x.from {
		share := 1 / float64(i-x.from+1)
		for j := range x.mean {
			x.mean[j] += (x.x[j] - x.mean[j]) * share
		}
	}
}

// result is theta.
func (x *iterate) result() []float64 {
	out := make([]float64, x.n)
	from := x.x
	if x.mean != nil {
		from = x.mean
	}
	for j, s := range x.r.Scale {
		out[j] = s * from[j]
	}
	return out
}
