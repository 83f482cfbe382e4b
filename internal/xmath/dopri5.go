package xmath

import (
	"errors"
	"fmt"
	"math"
)

// ErrIntegration marks an initial value problem that [Dopri5] could not carry to
// the end within its tolerance and its number of steps.
var ErrIntegration = errors.New("the differential equation could not be integrated")

// Dopri5 integrates y' = f(t, y) by the embedded Runge-Kutta pair of orders 5
// and 4 of Dormand and Prince, with step sizes chosen so that the local error of
// component i is about AbsTol + RelTol |y_i|, in the root mean square over
// components. It carries the fifth-order result on, and gives values between
// steps by an interpolant of order 4.
//
// Call [Dopri5.Integrate] to go from one time to another; call Start, and Step
// until Done, to look at values on the way. The exported fields may be changed
// between Starts. A Dopri5 may not be shared by goroutines; after NewDopri5 it
// allocates nothing.
//
// The method is explicit: on a stiff problem it takes many small steps, and says
// so by ErrIntegration when they exceed MaxSteps.
//
// Source: Dormand and Prince, A family of embedded Runge-Kutta formulae, J.
// Comp. Appl. Math. 6 (1980); step control and interpolant: Hairer, Norsett and
// Wanner, Solving Ordinary Differential Equations I, 2nd edition (1993), II.4-6.
type Dopri5 struct {
	// RelTol and AbsTol bound the local error; both are at least 0, and not both
	// are 0.
	RelTol, AbsTol float64
	// FirstStep is the length of the first step tried, MaxStep the longest that
	// is taken; 0 leaves them to the method.
	FirstStep, MaxStep float64
	// MaxSteps bounds the number of steps, rejected ones included, between Start
	// and the end; 0 stands for 100,000.
	MaxSteps int

	f         func(dst []float64, t float64, y []float64)
	t, end, h float64 // h has the sign of the direction
	prev      float64 // time before the last step
	last      float64 // error of the last step, for the controller
	rejected  bool
	steps     int
	k         [7][]float64
	y, old    []float64
	next      []float64
}

// NewDopri5 returns an integrator for dim equations with relative and absolute
// tolerance 1e-6 and 1e-9. f writes the derivative at (t, y) to dst; both slices
// have length dim, and it may keep neither.
func NewDopri5(dim int, f func(dst []float64, t float64, y []float64)) *Dopri5 {
	d := &Dopri5{RelTol: 1e-6, AbsTol: 1e-9, f: f}
	all := make([]float64, 10*dim)
	cut := func() []float64 {
		s := all[:dim:dim]
		all = all[dim:]
		return s
	}
	for i := range d.k {
		d.k[i] = cut()
	}
	d.y, d.old, d.next = cut(), cut(), cut()
	return d
}

// Integrate carries y, in place, from time from to time to, which may be the
// earlier one. On an error y is unchanged.
func (d *Dopri5) Integrate(y []float64, from, to float64) error {
	if err := d.Start(y, from, to); err != nil {
		return err
	}
	for !d.Done() {
		if err := d.Step(); err != nil {
			return err
		}
	}
	copy(y, d.y)
	return nil
}

// Start begins at y, which is copied, and time from; the last step will end at
// time to exactly. It panics when y has not the length of the problem.
func (d *Dopri5) Start(y []float64, from, to float64) error {
	if len(y) != len(d.y) {
		panic(fmt.Sprintf("xmath: Dopri5: y has length %d, the problem %d", len(y), len(d.y)))
	}
	if !(d.RelTol >= 0) || !(d.AbsTol >= 0) || !(d.RelTol+d.AbsTol > 0) {
		return fmt.Errorf("%w: relative tolerance %v, absolute tolerance %v; want both at least 0 and one above", ErrIntegration, d.RelTol, d.AbsTol)
	}
	if !finite(from) || !finite(to) || !finite(to-from) {
		return fmt.Errorf("%w: from time %v to %v; want finite times", ErrIntegration, from, to)
	}
	copy(d.y, y)
	copy(d.old, y)
	d.t, d.prev, d.end = from, from, to
	d.last, d.rejected, d.steps = 1e-4, false, 0
	d.f(d.k[0], d.t, d.y)
	copy(d.k[6], d.k[0])
	d.h = math.Abs(d.FirstStep)
	if d.h == 0 {
		d.h = d.firstStep()
	}
	d.h = math.Copysign(d.h, to-from)
	return nil
}

// Done reports whether the end has been reached.
func (d *Dopri5) Done() bool { return d.t == d.end }

// Time is the time reached.
func (d *Dopri5) Time() float64 { return d.t }

// Value is y at Time. It is overwritten by the next step.
func (d *Dopri5) Value() []float64 { return d.y }

// Steps is the number of steps tried since Start.
func (d *Dopri5) Steps() int { return d.steps }

// Step takes one step that satisfies the tolerance. It does nothing when Done.
func (d *Dopri5) Step() error {
	limit := d.MaxSteps
	if limit == 0 {
		limit = 100_000
	}
	for !d.Done() {
		if d.steps >= limit {
			return d.fail("more than %d steps; the problem is stiff or diverges, or the tolerance is too small", limit)
		}
		d.steps++
		if d.MaxStep > 0 && math.Abs(d.h) > d.MaxStep {
			d.h = math.Copysign(d.MaxStep, d.h)
		}
		to := d.t + d.h
		// A step that ends just before the end would leave a last one too small to
		// be told from rounding.
		if math.Abs(d.h)*1.01 >= math.Abs(d.end-d.t) {
			d.h, to = d.end-d.t, d.end
		}
		if to == d.t {
			return d.fail("the step is too small to be told from rounding")
		}
		if d.try(to) {
			return nil
		}
	}
	return nil
}

func (d *Dopri5) fail(format string, args ...any) error {
	return fmt.Errorf("%w: at time %v: "+format, append([]any{ErrIntegration, d.t}, args...)...)
}

// try takes a step of length h to time to, keeps it when its error allows, and
// chooses the next length by a proportional-integral controller.
func (d *Dopri5) try(to float64) bool {
	const (
		safety  = 0.9
		beta    = 0.04
		shrink  = 0.2
		enlarge = 10.0
	)
	copy(d.k[0], d.k[6])
	d.stages(to)
	err := d.error()
	if !(err <= 1) { // NaN is a rejection as well
		d.rejected = true
		factor := shrink
		if finite(err) {
			factor = max(shrink, safety*math.Pow(err, -0.2+beta*0.75))
		}
		d.h *= factor
		copy(d.k[6], d.k[0])
		return false
	}
	factor := enlarge
	if err > 0 {
		factor = safety * math.Pow(err, -0.2+beta*0.75) * math.Pow(d.last, beta)
		factor = min(max(factor, shrink), enlarge)
	}
	if d.rejected {
		factor = min(factor, 1)
	}
	d.last, d.rejected = max(err, 1e-4), false
	d.y, d.old, d.next = d.next, d.y, d.old
	d.prev, d.t = d.t, to
	d.h *= factor
	return true
}

// stages computes the derivatives k[1] to k[6] and the result of order 5, at
// which k[6] is taken: the first derivative of the next step.
func (d *Dopri5) stages(to float64) {
	t, h, y, z := d.t, d.h, d.y, d.next
	k1, k2, k3, k4, k5, k6 := d.k[0], d.k[1], d.k[2], d.k[3], d.k[4], d.k[5]
	n := len(y)
	z, k1, k2, k3, k4, k5, k6 = z[:n], k1[:n], k2[:n], k3[:n], k4[:n], k5[:n], k6[:n]
	for i, v := range y {
		z[i] = v + h*(1.0/5*k1[i])
	}
	d.f(k2, t+h*(1.0/5), z)
	for i, v := range y {
		z[i] = v + h*(3.0/40*k1[i]+9.0/40*k2[i])
	}
	d.f(k3, t+h*(3.0/10), z)
	for i, v := range y {
		z[i] = v + h*(44.0/45*k1[i]-56.0/15*k2[i]+32.0/9*k3[i])
	}
	d.f(k4, t+h*(4.0/5), z)
	for i, v := range y {
		z[i] = v + h*(19372.0/6561*k1[i]-25360.0/2187*k2[i]+64448.0/6561*k3[i]-212.0/729*k4[i])
	}
	d.f(k5, t+h*(8.0/9), z)
	for i, v := range y {
		z[i] = v + h*(9017.0/3168*k1[i]-355.0/33*k2[i]+46732.0/5247*k3[i]+49.0/176*k4[i]-5103.0/18656*k5[i])
	}
	d.f(k6, to, z)
	for i, v := range y {
		z[i] = v + h*(35.0/384*k1[i]+500.0/1113*k3[i]+125.0/192*k4[i]-2187.0/6784*k5[i]+11.0/84*k6[i])
	}
	d.f(d.k[6], to, z)
}

// error is the difference of the results of orders 5 and 4 in units of the
// tolerance.
func (d *Dopri5) error() float64 {
	k1, k3, k4, k5, k6, k7 := d.k[0], d.k[2], d.k[3], d.k[4], d.k[5], d.k[6]
	sum := 0.0
	for i, v := range d.next {
		e := d.h * (71.0/57600*k1[i] - 71.0/16695*k3[i] + 71.0/1920*k4[i] - 17253.0/339200*k5[i] + 22.0/525*k6[i] - 1.0/40*k7[i])
		if scale := d.scale(d.y[i], v); e != 0 {
			e /= scale
		}
		sum += e * e
	}
	return math.Sqrt(sum / float64(len(d.next)))
}

func (d *Dopri5) scale(a, b float64) float64 {
	return d.AbsTol + d.RelTol*max(math.Abs(a), math.Abs(b))
}

// firstStep guesses a step from the sizes of y and its first two derivatives (Hairer, Norsett and
// Wanner, II.4).
func (d *Dopri5) firstStep() float64 {
	span := math.Abs(d.end - d.t)
	size, slope, bend := 0.0, 0.0, 0.0
	add := func(sum *float64, v, scale float64) {
		if v != 0 {
			*sum += v / scale * (v / scale)
		}
	}
	for i, v := range d.y {
		add(&size, v, d.scale(v, v))
		add(&slope, d.k[0][i], d.scale(v, v))
	}
	h := 1e-6
	if size > 1e-10 && slope > 1e-10 {
		h = 0.01 * math.Sqrt(size/slope)
	}
	h = math.Copysign(min(h, span), d.end-d.t)
	for i, v := range d.y {
		d.next[i] = v + h*d.k[0][i]
	}
	d.f(d.k[1], d.t+h, d.next)
	for i, v := range d.y {
		add(&bend, (d.k[1][i]-d.k[0][i])/h, d.scale(v, v))
	}
	n := float64(max(len(d.y), 1))
	h = math.Abs(h)
	steepest := math.Sqrt(max(slope, bend) / n)
	guess := max(1e-6, h*1e-3)
	if steepest > 1e-15 {
		guess = math.Pow(0.01/steepest, 1.0/5)
	}
	h = min(100*h, guess, span)
	if !(h > 0) { // also when the derivatives are not finite: the step will be rejected
		return span
	}
	return h
}

// At writes y(t) to dst, for t within the last step: an interpolant of order 4
// that agrees with y and y' at both ends of the step. It panics outside.
func (d *Dopri5) At(dst []float64, t float64) {
	lo, hi := min(d.prev, d.t), max(d.prev, d.t)
	if !(t >= lo && t <= hi) {
		panic(fmt.Sprintf("xmath: Dopri5: At(%v) is outside the last step, %v to %v", t, lo, hi))
	}
	h := d.t - d.prev
	if h == 0 {
		copy(dst, d.y)
		return
	}
	k1, k3, k4, k5, k6, k7 := d.k[0], d.k[2], d.k[3], d.k[4], d.k[5], d.k[6]
	s := (t - d.prev) / h
	for i, y0 := range d.old {
		diff := d.y[i] - y0
		left := h*k1[i] - diff
		right := diff - h*k7[i] - left
		rest := h * (-12715105075.0/11282082432*k1[i] + 87487479700.0/32700410799*k3[i] - 10690763975.0/1880347072*k4[i] +
			701980252875.0/199316789632*k5[i] - 1453857185.0/822651844*k6[i] + 69997945.0/29380423*k7[i])
		dst[i] = y0 + s*(diff+(1-s)*(left+s*(right+(1-s)*rest)))
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
