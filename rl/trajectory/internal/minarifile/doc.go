// Package minarifile reads and writes trajectories as Minari datasets: a
// directory of episodes with metadata, as the Farama Foundation's Minari (0.5)
// keeps them. Start with [Format], which package file lists: a dataset is named
// by its directory with the format "minari", or by the metadata.json in its data
// directory. [Write] writes one.
//
// The layouts read and written are Parquet and Arrow IPC (data/<k>/part-0.parquet
// or .arrow and data/<k>/metadata.json for episode k). A dataset of the HDF5
// layout must be converted first. Images, text and nested lists are not read.
// Pages of Parquet are decoded by internal/parquet, which believes no length
// that a file says of itself.
//
// The columns are those of the canonical schema: observations[t] (observation,
// or obs_<name> for each entry of a dictionary), actions[t] less the space's
// start, rewards[t], terminations[t] and truncations[t]; the last observation of
// an episode is the one after its last decision, and the padding beside it is
// dropped. Minari has no place for probabilities: infos.behavior_prob[t],
// infos.action_probs[t], infos.target_prob[t] and infos.discount[t] are taken for
// those of decision t, and other numbers in infos can be mapped by their name,
// such as infos.pscore. An episode is named by its directory; its metadata may
// hold a unit_id (the person) and an episode_id of our own, in all episodes or in
// none.
//
// Rows are numbered over all episodes in order of their directories, one more
// than it has decisions for each. Units are those of the source.
package minarifile
