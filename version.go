package discreet

import "runtime/debug"

// Version names the program: the commit that it was built from, marked where the
// tree held changes beside it, or else the version of the module.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changed"
		}
	}
	if revision != "" {
		return revision + changed
	}
	if info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
