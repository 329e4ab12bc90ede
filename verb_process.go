package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/run"
	"opcycle/workloads/opcua"

	"github.com/spf13/cobra"
)

// controlFD is the descriptor of the conductor's socket in a measured process; its rings
// follow it.
const controlFD = 3

// processName is the verb of the OPC UA run's measured processes.
const processName = "process"

// processVerb is the hidden verb of every measured process: run, serve and measure start
// the binary by it. Its first stage places itself and executes itself anew, so that every
// thread of the runtime has the place and policy; its second obeys the conductor.
func processVerb() *cobra.Command {
	var p bench.Process
	var rings run.Rings
	var listener bool
	var placed bool
	var rtError, mode string
	cmd := &cobra.Command{
		Use: processName + " KIND", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "a measured process, started by run, serve and measure",
		RunE: func(_ *cobra.Command, args []string) error {
			if !placed {
				again := func(reason string) []string {
					return append(append([]string{}, os.Args...), "--placed", "--rt-error", reason)
				}
				return opcua.Become(append(append([]string{}, os.Args...), "--placed"), p, bench.RTMode(mode), again)
			}
			signal.Ignore(os.Interrupt, syscall.SIGHUP) // the conductor says when it ends
			if listener {
				rings.Listener = os.NewFile(uintptr(controlFD+1+rings.Large+rings.Small), "listener")
			}
			return obey(args[0], rings, rtError)
		},
	}
	f := cmd.Flags()
	f.IntSliceVar(&p.CPUs, "cpus", nil, "CPUs")
	f.IntVar(&p.FIFO, "fifo", 0, "SCHED_FIFO priority, 0 for none")
	f.IntVar(&p.MaxProcs, "gomaxprocs", 1, "GOMAXPROCS")
	f.DurationVar(&p.RTTime, "rttime", 0, "RLIMIT_RTTIME")
	f.StringVar(&mode, "rt", string(bench.RTAuto), "what a refused policy means")
	f.StringVar(&rtError, "rt-error", "", "why the process is not real-time")
	f.IntVar(&rings.Large, "rings", 0, "rings that follow the control socket")
	f.IntVar(&rings.Small, "small-rings", 0, "small rings that follow them")
	f.BoolVar(&listener, "listener", false, "a listening socket follows the rings")
	f.BoolVar(&placed, "placed", false, "the process has its place")
	return cmd
}

// starter makes measured processes of this binary.
func starter() (run.Starter, error) {
	exe, err := os.Executable()
	if err != nil {
		return run.Starter{}, fmt.Errorf("find the program's own file: %w", err)
	}
	return run.Starter{Exe: exe, Args: func(kind string, p bench.Process, mode bench.RTMode, r run.Rings) []string {
		return []string{processName, kind, "--cpus", bench.CPUList(p.CPUs).Numbers(), fmt.Sprintf("--fifo=%d", p.FIFO),
			fmt.Sprintf("--gomaxprocs=%d", p.MaxProcs), "--rttime", p.RTTime.String(), "--rt", string(mode),
			fmt.Sprintf("--rings=%d", r.Large), fmt.Sprintf("--small-rings=%d", r.Small), fmt.Sprintf("--listener=%v", r.Listener != nil)}
	}}, nil
}

func obey(kind string, r run.Rings, rtError string) error {
	ctl, err := opcua.OpenControl(controlFD)
	if err != nil {
		return err
	}
	defer ctl.Close()
	rings, err := openRings(r)
	if err != nil {
		return err
	}
	switch kind {
	case bench.ProcessServer:
		l, err := listening(r.Listener)
		if err != nil {
			return err
		}
		return opcua.Serve(ctl, rings, l, rtError)
	case bench.ProcessClient:
		return opcua.Measure(ctl, rings, rtError)
	case run.FloorReceive:
		return opcua.FloorReceive(ctl, rtError)
	case run.FloorSend:
		return opcua.FloorSend(ctl, rtError)
	}
	return fmt.Errorf("unknown kind of process %q", kind)
}

// listening is the socket that the conductor lends, nil for none.
func listening(f *os.File) (*net.TCPListener, error) {
	if f == nil {
		return nil, nil
	}
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("the listening socket of the conductor: %w", err)
	}
	return l.(*net.TCPListener), nil
}

func openRings(r run.Rings) ([]*record.Ring, error) {
	var rings []*record.Ring
	for i := range r.Large + r.Small {
		slots := record.RingSlots
		if i >= r.Large {
			slots = record.SmallRingSlots
		}
		m, err := rt.MapShared(os.NewFile(uintptr(controlFD+1+i), "ring"), record.RingBytes(slots))
		if err != nil {
			return nil, err
		}
		ring, err := record.NewRing(m.Mem, false)
		if err != nil {
			return nil, err
		}
		rings = append(rings, ring)
	}
	return rings, nil
}
