//go:build slow

package golden

var toldQuestions = wrongQuestions
