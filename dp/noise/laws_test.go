package noise

// integerSampler is what the four exact samplers have in common.
type integerSampler interface {
	Sample(*Source) int64
	Fill([]int64, *Source)
}

// laws lists the four exact samplers.
var laws = []struct {
	name string
	make func(scale float64) (integerSampler, error)
}{
	{"Gaussian", func(x float64) (integerSampler, error) { return NewGaussian(x) }},
	{"Laplace", func(x float64) (integerSampler, error) { return NewLaplace(x) }},
	{"DiscreteGaussian", func(x float64) (integerSampler, error) { return NewDiscreteGaussian(x) }},
	{"DiscreteLaplace", func(x float64) (integerSampler, error) { return NewDiscreteLaplace(x) }},
}
