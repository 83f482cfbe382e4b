// Package ono20 reproduces Ono and Takahashi, Locally Private Distributed
// Reinforcement Learning: Figure 2, Figure 3 with Tables 1 to 3, and beside them
// training that works at the same epsilon, and what dishonest agents do to it.
//
// Start with
//
//	done, err := figure.Run(ctx, ono20.Study(), figure.Options{Dir: "out", Quick: true})
//
// Agents balance a pole under gravity 9.7, 9.8 or 9.9 for at most 200 steps. Unit: an
// agent, who reports once. Adjacency: replace-one, local: epsilon bounds
// the loss of a report. Scores are steps; an agent's own score is that of the episode that it trained
// on. First success is the first of ten reports in a row whose mean score is at
// least 195. The paper leaves much open, so each table stands in a literal reading and in
// the nearest one, which was searched for with the tables in sight.
//
// Noise is seeded here: it protects nobody.
package ono20
