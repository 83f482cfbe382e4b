//go:build slow && measure

package device_test

import "testing"

// TestADeviceIsKilledAThousandTimes:
//
//	go test -tags slow,measure -run AThousandTimes -v -timeout 30m ./fleet/device
func TestADeviceIsKilledAThousandTimes(t *testing.T) { killed(t, 1000) }
