//go:build !slow

package golden

// toldQuestions are those of wrongQuestions that are asked; all of them take 25 processor seconds.
var toldQuestions = []string{"dp-wis"}
