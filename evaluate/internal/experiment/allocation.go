package experiment

import (
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Chance is how likely noisy numbers of persons, the noise in each of standard deviation sd, are
// as far or farther from the shares with which arms were drawn: of the statistic of Pearson with the variance of the noise
// added to that of chance.
func Chance(counts []float64, sd float64, shares []float64) float64 {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	k := len(counts) - 1 // the last follows from the others
	apart, spread := mat.NewVecDense(k, nil), mat.NewSymDense(k, nil)
	for i := range k {
		apart.SetVec(i, counts[i]-shares[i]*total)
		for j := i; j < k; j++ {
			p, q, same := shares[i], shares[j], 0.0
			if i == j {
				same = 1
			}
			spread.SetSym(i, j, max(total, 1)*p*(same-q)+sd*sd*(same-p-q+float64(k+1)*p*q))
		}
	}
	var c mat.Cholesky
	if !c.Factorize(spread) {
		return 1
	}
	var solved mat.VecDense
	if err := c.SolveVecTo(&solved, apart); err != nil {
		return 1
	}
	return distuv.ChiSquared{K: float64(k)}.Survival(mat.Dot(apart, &solved))
}
