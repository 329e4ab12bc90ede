package rt

import "os"

// Shared is memory that several processes map: a memfd and its mapping. The one that made
// it passes File to the others (exec.Cmd.ExtraFiles, which clears close-on-exec), which
// map it by MapShared. Who writes which byte is the users' contract; the mapping orders
// nothing, so a value that another process reads is published by sync/atomic.
type Shared struct {
	Mem  []byte   // nil after Close
	File *os.File // owned by this Shared
}
