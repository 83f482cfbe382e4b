package parquet

// gather undoes BYTE_STREAM_SPLIT: the first bytes of all values, then the
// second ones, and so on.
func (c *Column) gather(b []byte) ([]byte, error) {
	if len(b)%c.width != 0 {
		return nil, errValuesShort
	}
	dst, err := sized(c.file, c.work[0], len(b), 1)
	if err != nil {
		return nil, err
	}
	c.work[0] = dst
	n := len(b) / c.width
	for i := range n {
		for j := range c.width {
			dst[i*c.width+j] = b[j*n+i]
		}
	}
	return dst, nil
}
