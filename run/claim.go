package run

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
)

// claim makes cpus this run's own among all opcycle processes of the machine (of its
// network namespace), until release: two measurements at real-time priority on one CPU
// measure each other. The mark is a socket in the abstract namespace (unix(7)), which
// ends with the process, however it ends.
func claim(cpus ...[]int) (release func(), err error) {
	all := slices.Concat(cpus...)
	slices.Sort(all)
	var held []net.Listener
	release = func() {
		for _, l := range held {
			_ = l.Close() // it holds nothing but its name
		}
	}
	for _, cpu := range slices.Compact(all) {
		l, err := net.Listen("unix", fmt.Sprintf("@opcycle-cpu-%d", cpu))
		if errors.Is(err, syscall.EADDRINUSE) {
			release()
			return nil, fmt.Errorf("CPU %d is being measured by another opcycle process: wait for its end, or measure other CPUs (--cpus of a suite, --server-cpus and --client-cpus of run, cores: of a campaign)", cpu)
		}
		if err != nil {
			continue // no abstract sockets here: then nobody can be warned
		}
		held = append(held, l)
	}
	return release, nil
}
