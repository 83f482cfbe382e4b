package spill

// DivideFrom has parts of more than a number of bytes divided.
func (t *Temporary) DivideFrom(bytes int64) { t.most = bytes }
