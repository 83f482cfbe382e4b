package curatorv1_test

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// Example reads an answer as curl gets it.
func Example() {
	var a curatorv1.GetAskResponse
	if err := protojson.Unmarshal([]byte(`{"ask": {"id": "0193", "state": "STATE_RELEASED"}}`), &a); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.GetAsk().GetId(), a.GetAsk().GetState() == curatorv1.State_STATE_RELEASED)
	// Output: 0193 true
}
