// Package noise draws the random numbers that protect people: a cryptographic
// bit stream and samplers of integer noise with exact distributions.
//
// Start with
//
//	src, err := noise.NewSource()
//	g, err := noise.NewGaussian(sigma) // in lattice steps
//	k := g.Sample(src)                 // round(N(0, sigma^2))
//
// [Gaussian] and [Laplace] return a continuous draw rounded to the nearest
// integer. Integer sum + rounded draw = rounding of (sum + draw), so adding one
// to a sum of integers is post-processing of the ideal continuous mechanism.
// [DiscreteGaussian] and [DiscreteLaplace] (Canonne, Kamath, Steinke 2020) have
// their own distributions and accounting. [FastGaussian] returns float64 normals and
// is not protected against floating-point attacks (Mironov 2012).
//
// # Units
//
// Standard deviations and scales are in lattice steps: the caller divides by the
// step. Each float64 is read as an exact dyadic rational. Sensitivity, clipping and
// adjacency are the business of package internal/dp/mechanism.
//
// # How
//
// A draw is a dart thrown uniformly at a set of rectangles that covers the region
// under the density; a dart that falls under the density is a draw from it (von
// Neumann 1951; the rectangles are a ziggurat with vertical strips, after
// Marsaglia and Tsang 2000). The rectangles have dyadic sides, and integer areas
// that add up to 2^64, so darts are drawn in integer arithmetic without error.
// At least 93 darts in a hundred fall where the table alone shows that
// they are under the density. The others are decided by a fixed-point filter with
// a proven error bound, and in the few cases that are too close for it, by an
// enclosure of the exponential that is refined, with more random bits, until it
// decides (as in Karney 2016). No floating-point number takes part, so a seed
// gives the same draws on every machine. The proof is in docs/proofs/noise.md.
//
// # Timing
//
// The samplers are not constant-time. What they do depends on the random bits and
// on the public scale only: they never see private data, and no retry is
// conditioned on it. But how long a draw took, and which table entries it
// touched, depend on the noise itself. A draw in the body of a strip takes the
// same steps as any other; a dart near the density, a rejected dart, a draw
// beyond 8 standard deviations (16 scales for Laplace; probability 1e-15, 1e-7)
// and a magnitude within 2^-20 of a rounding boundary take longer, by 10 ns to
// some 10 us. An observer who can time single draws, or shares a processor cache with
// them, may learn something about the noise, and so about the sum. The guarantee
// covers only the released values: it does not cover that observer, nor one who measures
// the total duration of a release to within nanoseconds, nor one who reads the
// memory, where noise remains after use (a [Source] holds up to 8 KiB of past bits).
//
// # Assumptions
//
// The distributions are exact for uniform random bits. The bits are AES-256 in counter
// mode under keys of the operating system, so the privacy of a release rests, as
// for every implementation that does not use a hardware noise source for each
// draw, on that stream being indistinguishable from uniform.
package noise
