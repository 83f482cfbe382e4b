package fleet

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseVersion reads the version of an agent, as min_client names it: three numbers, such as 1.0.0. The error wraps [ErrConfig].
func ParseVersion(text string) (n [3]uint32, err error) {
	parts := strings.Split(text, ".")
	for i := 0; err == nil && len(parts) == len(n) && i < len(n); i++ {
		var v uint64
		v, err = strconv.ParseUint(parts[i], 10, 32)
		n[i] = uint32(v)
	}
	if err != nil || len(parts) != len(n) {
		return n, fmt.Errorf("%w: version %q; want three numbers, such as 1.0.0", ErrConfig, text)
	}
	return n, nil
}
