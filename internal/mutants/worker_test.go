//go:build slow

package mutants

// workerMutants are faults in what a call of a worker leaves to the next, and in how the code of a
// method of sums is asked that is in another process.
func workerMutants() []mutant {
	return []mutant{
		{name: "worker: a call is cancelled by the cancelling of another", in: "internal/worker", run: "ByItsOwnNumber",
			edits: edits{{"if last != nil && last.ID == q.ID { // one", "if last != nil { // one"}}},
		{name: "worker: the input of a call stays for the next", in: "internal/cli", run: "AWorkerAnswers",
			edits: edits{{"	k.Close()\n	return empty()", "	k.Close()\n	return nil"}}},
		{name: "worker: a call is ended with its caller", in: "internal/worker", run: "ACallerThatGoes$",
			edits: edits{{"	defer close(s.ended)\n	defer close(s.calls)\n	var last *call", "	defer close(s.ended)\n	defer close(s.calls)\n	var last *call\n	defer func() { last.cancel(errGone) }()"}}},
		{name: "sums: a caller that goes is a failure of persons", in: "internal/worker", run: "NoFailureOfPersons",
			edits: edits{{"		s.call.Abort(err)\n", ""}}},
		{name: "sums: code that is gone is taken for code that keeps something", in: "evaluate", by: "internal/worker", run: "NoFailureOfPersons",
			edits: edits{{"		if err := ctx.Err(); err != nil { // what", "		if err := error(nil); err != nil { // what"}}},
		{name: "sums: a person gets the vector of another", in: "internal/worker", run: "SumsAreTheCallers",
			edits: edits{{"		given = given[length:]\n", "		_ = length\n"}}},
		{name: "sums: a vector of another length is filled up from the next", in: "internal/worker", run: "SumsAreTheCallers",
			edits: edits{{"		case r.Lengths[i] != len(x):", "		case 8*len(x) > len(given):"}}},
		{name: "sums: persons beyond a message are left out", in: "evaluate", by: "internal/worker", run: "SumsAreTheCallers",
			edits: edits{{"			for j, i := range some {\n				f.add(failed[j])", "			for j, i := range some[:min(len(some), 188)] {\n				f.add(failed[j])"}}},
	}
}
