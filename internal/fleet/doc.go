// Package fleet is what devices and an aggregator agree on when they train a policy over a network: specs that are signed
// and chained, what a device's owner consents to, the weights by their hash, and one sealed report of a fixed size.
//
// The operator makes a run with [SignRun] and announces rounds with [SignRound]. A device reads them with [VerifyRun] and
// [Run.VerifyRound], holds the run against its owner's [Consent], trains from weights that [Round.Weights] finds to be
// those of the spec, and seals the body of its report, made by the codec of package train, with [Round.Seal]. The
// aggregator opens it with [Round.Unseal]. Package fleet/device is the device, package fleet/fleetv1 what travels.
//
// # Privacy
//
// The unit is the device: everything about its environment. Adjacency is replace-one, and a report is epsilon-locally
// private by its randomiser (package dp/local), whatever specs, weights and seeds say. A spec with any bit changed, with
// another randomiser, of another run, or that does not continue the chain of rounds which the device knows, is refused before
// anything is paid. A server can still show different chains to different devices: two devices that compare the hashes of
// their specs prove it, and their reports stay private.
//
// A report says nothing but its body: all have the size of the run, and when it is sent was drawn before the training.
// That a device is enrolled, that it takes part, and its address are not protected.
//
// Sealing (HPKE, RFC 9180: X25519, HKDF-SHA256, ChaCha20-Poly1305) hides bodies from whoever carries them, such as a proxy that
// ends TLS. It adds nothing to the guarantee against the aggregator.
//
// # Seeds
//
// What a randomiser or a perturbation derives from public randomness follows from [Seed]: of the round's beacon and the
// device's [Nullifier]. The device chooses neither, so it cannot search for a seed under which a lie weighs more.
//
// # Units
//
// Epsilon is the largest log-ratio of probabilities. Times are those of time.Time, milliseconds on the wire.
package fleet
