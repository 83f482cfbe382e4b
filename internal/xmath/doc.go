// Package xmath holds the scalar mathematics that privacy accounting rests on
// and that the standard library and gonum do not carry far enough: tails of the
// normal law with a bounded relative error at any distance from the mean, their
// inverses, arithmetic on logarithms, and directed rounding.
//
// Start with [LogNormSF], or with [MillsDifference] where two tails are to be
// subtracted. All arguments and results are dimensionless; every logarithm is
// natural. The accuracy that a function claims is stated beside it in units of
// the last place (1 ulp = 2^-52 relative at most) and is tested against tables
// computed with 60 digits (testdata/README.md).
//
// Sources: the continued fraction of the Mills ratio is Laplace's (NIST Digital
// Library of Mathematical Functions, 7.9); its complement and its difference are
// completely monotone, which is what bounds the quadrature error below.
package xmath
