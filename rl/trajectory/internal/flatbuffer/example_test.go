package flatbuffer_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/flatbuffer"
)

func Example() {
	b := []byte{
		12, 0, 0, 0, // the table is at 12
		0, 0, 6, 0, 8, 0, 4, 0, // at 6 the places of its fields: one, 4 from its beginning
		6, 0, 0, 0, // they are 6 bytes before it
		7, 0, 0, 0, // field 0
	}
	t := flatbuffer.Root(b)
	fmt.Println(t.Int(0), t.Int(1))
	// Output:
	// 7 0
}
