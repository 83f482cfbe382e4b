package sorter_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/sorter"
)

func Example() {
	s := sorter.New()
	defer s.Close()
	s.Put([]byte("b"), []byte("second"))
	s.Put([]byte("a"), []byte("first"))
	sorted, err := s.Sorted()
	for err == nil {
		var record []byte
		if _, record, err = sorted.Next(); err == nil {
			fmt.Println(string(record))
		}
	}
	fmt.Println(err)
	// Output:
	// first
	// second
	// EOF
}
