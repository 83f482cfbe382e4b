package fleetv1_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"google.golang.org/protobuf/proto"
)

// Example writes a message and reads it.
func Example() {
	data, err := proto.Marshal(&fleetv1.UploadResponse{Verdict: fleetv1.Verdict_VERDICT_ACCEPTED})
	if err != nil {
		fmt.Println(err)
		return
	}
	var m fleetv1.UploadResponse
	if err := proto.Unmarshal(data, &m); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(data, m.GetVerdict())
	// Output: [8 1] VERDICT_ACCEPTED
}
