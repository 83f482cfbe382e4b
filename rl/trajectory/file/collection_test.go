package file_test

import "runtime/debug"

func init() { debug.SetGCPercent(400) } // memory is cheap, and its collection a fifth of the time
