// Package hiv is the problem of treating a patient with HIV: every five days it
// is decided which of two drugs to give, a reverse transcriptase inhibitor (RTI)
// and a protease inhibitor (PI). Drugs have side effects, and interrupting them
// at the right time can bring the patient into a state in which the immune system
// holds the virus by itself (structured treatment interruption).
//
// Start with [New], and hand the problem to sim.Rollout for data or to package
// learn for a policy:
//
//	env, err := hiv.New(hiv.Options{Log10: true})
//
// Observations are the concentrations of healthy and infected CD4+ lymphocytes
// (T1, T1*), healthy and infected macrophages (T2, T2*), cytotoxic lymphocytes
// (E), in cells/ml, and of free virus (V), in copies/ml, or their decimal
// logarithms. The reward of a step is
//
//	-0.1 V - 20000 epsilon1^2 - 2000 epsilon2^2 + 1000 E
//
// without unit, where the efficacies epsilon1 and epsilon2 are 0.7 and 0.3 when
// the drug is given and 0 otherwise. It has no small public bound: it exceeds
// 3.5e8 in the healthy state. Episodes do not terminate; they are customarily
// truncated after 200 steps, and discounted by 0.98.
//
// Published implementations differ in the order of the actions, in the state at
// which the reward is taken, in the price of the second drug, in the start, and
// in the integrator. [Options] holds a field for each.
//
// Sources: Adams, Banks, Kwon and Tran, Dynamic multidrug therapies for HIV:
// optimal and STI control approaches, Math. Biosci. Eng. 1 (2004), for the model;
// Ernst, Stan, Goncalves and Wehenkel, Clinical data based optimal STI strategies
// for HIV: a reinforcement learning approach (CDC 2006), for the problem.
package hiv
