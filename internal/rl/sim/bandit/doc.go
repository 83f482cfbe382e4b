// Package bandit is a contextual bandit on a device: at each of 20 visits a person
// is recommended one of four items, and clicks on it or not. The observation is
// what the device knows at a visit, a mood, as a point on the unit circle (its cosine and its sine,
// without unit); the reward is 1 for a click and 0 otherwise, so that an undiscounted return is a
// number of clicks and lies in [0, 20].
//
// Start with [New], and hand the problem to sim.Rollout for data or to package
// learn for a policy:
//
//	env, err := bandit.New(bandit.Options{Taste: 90})
//
// Item k lies at k quarters of a turn. At an angle d from the mood it is clicked on with probability
//
//	p(d) = 0.05 + 0.35 (1 + cos d)
//
// Moods are uniform within an eighth of a turn of the person's taste, independent from visit to visit; what is
// recommended changes nothing but the click. So everything is known in closed form. Choosing uniformly
// scores 20 * 0.4 = 8 clicks, for every person. Choosing the nearest item scores
// 20 (0.05 + 0.35 (1 + (4/pi) sin(pi/4))) = 14.3 on average over tastes that are uniform, or the
// eight multiples of 45 degrees; no policy scores more, and no item alone more than 8.
//
// The problem is our own, in the manner of Li, Chu, Langford and Schapire, A Contextual-Bandit Approach
// to Personalized News Article Recommendation (2010); nothing in it comes from data.
package bandit
