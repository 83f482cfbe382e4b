// Package draft writes the first configuration for data that nobody has described
// yet, from the names and types of their columns.
//
// Start with [Configuration], or with [Ask], which asks somebody who knows. It knows
// nothing of the data but what [file.Describe] tells. What must come from public knowledge, such as ranges,
// numbers of persons and probabilities, is left open by the words FILL IN, which
// an evaluation refuses.
package draft
