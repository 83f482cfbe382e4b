package house

// part is a group of packages. They may import the packages of the
// parts named in over, and within the part those of lower layers: a layer is
// one line below, the lowest first, and packages of one layer do not
// import each other.
type part struct {
	name   string
	tree   string   // if set, the directory that is this part's: what is below it, and below internal/ of the same name, stands here and nothing else does
	over   []string // the parts it may import; each stands before it in the table
	layers [][]string
}

// table lists every package of the module. A package that is not listed, and
// a line without its package, are errors: whoever makes, moves or deletes a
// package changes its line here in the same commit.
var table = []part{
	{name: "ground", layers: [][]string{
		{"internal/xmath", "internal/atomicfile", "internal/boundedfile", "internal/buildinfo", "internal/chart", "internal/chromium", "internal/fault", "internal/filelock", "internal/fuzzmain", "internal/jcs", "internal/oracle", "internal/parquet", "internal/pgtest", "internal/sqlite", "internal/webpage", "internal/webpage/pagetest"},
		{"internal/signature", "internal/schema", "internal/source", "internal/service", "internal/service/authority", "internal/service/database"}, // what network services share
		{"internal/service/servicetest", "internal/service/alerttest"}, // for tests of those
	}},

	// The pillars: privacy and reinforcement learning do not know of each other.
	{name: "privacy", tree: "dp", over: []string{"ground"}, layers: [][]string{
		{"dp", "dp/account/internal/lossdist"},
		{"internal/dp/hook"},
		{"dp/account", "dp/noise", "internal/dp/xie19"},
		{"internal/dp/mechanism", "dp/local", "dp/internal/issue", "dp/audit"},
		{"dp/mechanism"},
		{"dp/receipt"},
	}},
	{name: "ledger", tree: "dp/ledger", over: []string{"ground", "privacy"}, layers: [][]string{
		{"dp/ledger/internal/store", "internal/dp/ledger/meter", "dp/ledger/internal/witness"},
		{"internal/dp/ledger/chain"},
		{"dp/ledger"},
	}},
	{name: "learning", tree: "rl", over: []string{"ground"}, layers: [][]string{
		{"rl/trajectory/internal/canon", "rl/trajectory/internal/flatbuffer", "rl/trajectory/internal/sorter"},
		{"rl/trajectory"},
		{"rl/trajectory/internal/table"},
		{"rl/trajectory/internal/ingest", "rl/trajectory/internal/textfile", "rl/trajectory/internal/parquetfault"},
		{"rl/trajectory/internal/csvfile", "rl/trajectory/internal/ndjsonfile", "rl/trajectory/internal/parquetfile", "rl/trajectory/internal/arrowfile", "rl/trajectory/internal/minarifile", "rl/trajectory/internal/movedfile"},
		{"rl/trajectory/internal/spill"},
		{"rl/trajectory/file"},
		{"internal/rl/trajectory/probe"},
		{"rl/feature"},
		{"rl/policy"},
		{"internal/rl/value", "rl/sim"},
		{"rl/learn", "internal/rl/sim/chain", "internal/rl/sim/cartpole", "internal/rl/sim/acrobot", "internal/rl/sim/bandit", "internal/rl/sim/hiv", "internal/rl/sim/mountaincar", "internal/rl/sim/simtest"},
	}},

	// The bridges, the only places where the pillars meet; they do not know of each other.
	{name: "evaluation", tree: "evaluate", over: []string{"ground", "privacy", "learning"}, layers: [][]string{
		{"evaluate/internal/facts", "evaluate/internal/band"},
		{"evaluate/internal/fqe", "evaluate/internal/gpope", "evaluate/internal/refine", "evaluate/internal/distribution", "evaluate/internal/experiment", "evaluate/internal/scalar", "evaluate/internal/rule", "evaluate/internal/smooth", "evaluate/internal/survival"},
		{"evaluate"},
		{"internal/evaluate/overview", "evaluate/internal/truthbench"},
		{"internal/evaluate/replay", "internal/evaluate/neighbours"},
		{"internal/evaluate/examine"},
	}},
	{name: "training", tree: "train", over: []string{"ground", "privacy", "learning", "ledger"}, layers: [][]string{
		{"train"},
		{"train/device"},
		{"internal/train/ledgerwallet", "train/simulate"},
		{"internal/train/examine"}, // audits of a randomiser
	}},

	// The roofs.
	{name: "papers", over: []string{"ground", "privacy", "learning", "ledger", "evaluation", "training"}, layers: [][]string{
		{"internal/papers/figure", "internal/papers/onchain"},
		{"internal/papers/untuned"},
		{"internal/papers/balle16", "internal/papers/xie19", "internal/papers/ono20"},
	}},
	{name: "job", over: []string{"ground", "privacy", "learning", "ledger", "evaluation", "training"}, layers: [][]string{
		{"internal/yamlfile", "internal/shards"},
		{"config"},            // the sections of the YAML file
		{"internal/spec"},     // what follows from a configuration without the data
		{"internal/scan"},     // the data, read and checked
		{"internal/charging"}, // the ledger, asked and charged
		{"internal/evaluation", "internal/verify", "internal/trainjob", "internal/draft", "internal/importing"},
		{"internal/audit"},  // what is claimed, attacked
		{"internal/report"}, // pages
		{"."},
		{"report"},
	}},
	{name: "scale", tree: "scale", over: []string{"ground", "privacy", "learning", "ledger", "evaluation", "job"}, layers: [][]string{
		{"scale"}, // data in shards: tasks, masked partials, the driver
	}},
	{name: "fleet", tree: "fleet", over: []string{"ground", "privacy", "learning", "ledger", "training"}, layers: [][]string{
		{"fleet/fleetv1", "internal/fleet/store", "internal/fleet/pages"}, // generated messages and services; the rows of an aggregator; HTML
		{"internal/fleet"}, // specs, consent, weights, sealed reports
		{"internal/fleet/aggregator", "fleet/device"},            // the server; the devices' agent
		{"internal/fleet/operator", "internal/fleet/transcript"}, // runs, plans, the operator's side of the wire; what anybody checks of a run
	}},
	{name: "serve", tree: "serve", over: []string{"ground", "privacy", "learning", "ledger", "evaluation", "job"}, layers: [][]string{
		{"serve/internal/tokens"}, // who has which token
		{"serve/curatorv1", "serve/internal/asks", "serve/internal/notify", "serve/internal/pages"}, // generated; what is kept of asks; webhooks and mail; HTML
		{"serve"}, // the curator's service
	}},
	{name: "command", over: []string{"ground", "privacy", "learning", "ledger", "evaluation", "training", "papers", "job", "scale", "fleet", "serve"}, layers: [][]string{
		{"internal/agent", "internal/worker"}, // a device of a fleet as its configuration says; commands on frames
		{"internal/cli"},
		{"cmd/discreet", "cmd/discreet-agent"},
	}},
	{name: "checks", over: []string{"ground", "privacy", "learning", "ledger", "evaluation", "training", "papers", "job", "scale", "fleet", "serve", "command"}, layers: [][]string{
		{"internal/house", "internal/mutants", "internal/golden", "internal/ci", "internal/protocol", "internal/fleetstack", "internal/corpus"}, // tests of the whole
	}},
}
