package rt

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// SetProcessAffinity moves every thread of this process to cpus; threads that the runtime
// makes later inherit it. It goes over the threads until it finds none elsewhere, since a
// thread may be made meanwhile. Cold.
func SetProcessAffinity(cpus []int) error {
	for range 10 {
		tids, err := Threads()
		if err != nil {
			return err
		}
		moved := false
		for _, tid := range tids {
			now, err := Affinity(tid)
			if errors.Is(err, unix.ESRCH) || err == nil && slices.Equal(now, cpus) {
				continue // it ended meanwhile, or is there
			}
			if err == nil {
				err = SetAffinity(tid, cpus)
			}
			if err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
			moved = true
		}
		if !moved {
			return nil
		}
	}
	return fmt.Errorf("threads of this process are still made elsewhere than on CPUs %v", cpus)
}
