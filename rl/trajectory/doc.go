// Package trajectory holds the decisions logged about people, column by column.
//
// Estimators use a [Dataset], and a [Builder] makes one from an [Episode] after
// another. Subpackage file reads files of every format into either, as [Options]
// say.
//
// # Units
//
// A row is one decision: what was observed before it, the action, the
// probability that the behaviour policy gave it, and the reward received after
// it. Steps count from 0. Rewards and observations are in the units of the
// source, probabilities between 0 and 1. An episode that ends by the problem's
// own rule is terminated; one cut off by time or censoring is truncated. The
// words are those of Gymnasium (Towers et al. 2024).
//
// # Persons
//
// A person is whoever unit_id names, and may own many episodes; or, where
// [Options.Unit] says so, a single episode or row. That, and which columns there
// are, is decided before the first row is read: rows, episodes and files that
// disagree about a column are refused, and so are ids that are one number in two
// spellings. Reading counts and caps what one person contributes ([Options.Horizon],
// [Options.EpisodesPerPerson]) by a rule that looks at nobody else, so that one
// person's data never changes what is kept of another's. Nothing here
// knows more of privacy.
//
// # Errors
//
// What is wrong with data is an [*InputError], written "file:row: column: what;
// remedy". It is for the curator of the data. It holds no value of the data and
// no person's or episode's name.
package trajectory
