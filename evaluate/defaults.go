package evaluate

// The defaults of the methods' parameters, each written here alone: plans use
// them, and [Methods] and with it the documentation list them. Defaults that
// follow a rule of public facts stand with the rule.
const (
	defaultMaxWeight     = 10.0     // cap on importance weights, off-policy
	defaultBehaviorShare = 0.2      // share of mu^2 for probabilities of logged actions
	defaultClipShare     = 0.2      // share of mu^2 for the choice of a clip
	defaultFloor         = 0.02     // least upper limit of an estimated probability
	defaultValueShare    = 0.1      // of dp-dr for a baseline of one number
	defaultTableShare    = 0.3      // of dp-dr for a baseline by state or action
	largestAutoWeight    = 64.0     // cap that clip auto starts from, at most
	mostConfounding      = 1e6      // largest factor by which odds may be taken to be off
	narrowable           = 4.0      // least cap that clip auto tries to narrow
	defaultMeanClip      = clipAuto // of importance sampling, off-policy
	defaultDRClip        = clipAuto
	defaultConstants     = exactConstants
	defaultStartShare    = 0.05 // of dp-fqe for the mean over first states
	defaultIntervalShare = 0.3  // of dp-fqe for its interval
	defaultMaxRatio      = 5.0  // cap of dp-fqe on the ratio of one decision
	defaultRounds        = 3    // of dp-refine after the counts
	defaultSpread        = 0.15 // guesses of dp-refine, in units of the range of returns
	defaultDeviation     = 0.03
	defaultPrior         = 100.0     // rows of the overall mean in an action's mean, of dr
	defaultLambda        = 1.0       // penalty of lsl
	defaultSteps         = 1_000_000 // of gtd2
)
