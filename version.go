package discreet

import "github.com/discreet-rl/discreet/internal/buildinfo"

// Version names the program: the commit that it was built from, marked where the
// tree held changes beside it, or else the version of the module.
func Version() string { return buildinfo.Version() }
