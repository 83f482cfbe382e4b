package service

// Ballast is memory that is never touched, and so never resident, for a main program to hold while
// its service runs. The garbage collector begins when the heap has doubled; a service holds a few
// megabytes, and each collection makes the calls that meet it wait for milliseconds. Of a heap
// that is large it changes nothing, as another GOGC would.
func Ballast() []byte { return make([]byte, 32<<20) }
