// Package xmath holds the scalar mathematics that the rest of this module rests
// on and that the standard library and gonum do not carry far enough. For
// privacy accounting: tails of the normal law with a bounded relative error at
// any distance from the mean, their inverses, arithmetic on logarithms, and
// directed rounding. For simulators: an adaptive integrator of ordinary
// differential equations.
//
// Start with [LogNormSF], or with [MillsDifference] where two tails are to be
// subtracted; with [NewDopri5] to integrate. All arguments and results are
// dimensionless but those of Dopri5, which have the units of the problem; every
// logarithm is natural. The accuracy that a function claims is stated beside it
// in units of the last place (1 ulp = 2^-52 relative at most) and is tested
// against tables computed with 60 digits (testdata/README.md); Dopri5 is tested
// against solutions in closed form.
//
// Sources: the continued fraction of the Mills ratio is Laplace's (NIST Digital
// Library of Mathematical Functions, 7.9); its complement and its difference are
// completely monotone, which is what bounds the quadrature error below. The
// integrator is that of Dormand and Prince (1980).
package xmath
