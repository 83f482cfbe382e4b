package fleet

import "github.com/discreet-rl/discreet/internal/service"

// DeviceLogKeys are what a device's agent logs, for service.NewLog: no value depends on what was learned but "answer", which says whether that could be
// used.
func DeviceLogKeys() map[string]service.Kind {
	return map[string]service.Kind{
		"round": service.Number, "state": service.Word, "reason": service.Word, "answer": service.Word, "wait": service.Number, "epsilon": service.Number,
		"what": service.Word, "code": service.Word, "why": service.Text, "reports": service.Number, "asked": service.Number, "window": service.Number, "poll": service.Number,
	}
}
