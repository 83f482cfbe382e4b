//go:build slow

package importing_test

const seeds, questions = uint64(300), 20
