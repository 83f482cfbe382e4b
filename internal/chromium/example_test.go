package chromium_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/internal/chromium"
)

// Example looks at a page in a narrow, dark window. It needs a Chromium, so it is not run.
func Example() {
	b, err := chromium.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Stop()
	faults, picture, err := b.Look("http://127.0.0.1:8420/", chromium.Window{Width: 400, Height: 800, Dark: true})
	fmt.Println(faults, len(picture), err)
}
