package account

// What the tests from outside hold against the oracles directly.
var (
	SmoothGaussianBeta    = smoothGaussianBeta
	SmoothGaussianDelta   = smoothGaussianDelta
	SmoothGaussianEpsilon = smoothGaussianEpsilon
)
