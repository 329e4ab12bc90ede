package main

import (
	"fmt"
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

// processVerb is the hidden verb of every measured process: run, serve and measure start
// the binary by it. Its first stage places itself and executes itself anew, so that every
// thread of the runtime has the place and policy; its second obeys the conductor.
func processVerb() *cobra.Command {
	var p bench.Process
	var placed bool
	var rtError, mode string
	cmd := &cobra.Command{
		Use: "process KIND", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "a measured process, started by run, serve and measure",
		RunE: func(_ *cobra.Command, args []string) error {
			if !placed {
				again := func(reason string) []string {
					return append(append([]string{}, os.Args...), "--placed", "--rt-error", reason)
				}
				return opcua.Become(append(append([]string{}, os.Args...), "--placed"), p, bench.RTMode(mode), again)
			}
			signal.Ignore(os.Interrupt, syscall.SIGHUP) // the conductor says when it ends
			return obey(args[0], rtError)
		},
	}
	f := cmd.Flags()
	f.IntSliceVar(&p.CPUs, "cpus", nil, "CPUs")
	f.IntVar(&p.FIFO, "fifo", 0, "SCHED_FIFO priority, 0 for none")
	f.IntVar(&p.MaxProcs, "gomaxprocs", 1, "GOMAXPROCS")
	f.DurationVar(&p.RTTime, "rttime", 0, "RLIMIT_RTTIME")
	f.StringVar(&mode, "rt", string(bench.RTAuto), "what a refused policy means")
	f.StringVar(&rtError, "rt-error", "", "why the process is not real-time")
	f.BoolVar(&placed, "placed", false, "the process has its place")
	return cmd
}

// starter makes measured processes of this binary.
func starter() (run.Starter, error) {
	exe, err := os.Executable()
	if err != nil {
		return run.Starter{}, fmt.Errorf("find the program's own file: %w", err)
	}
	return run.Starter{Exe: exe, Args: func(kind string, p bench.Process, mode bench.RTMode) []string {
		return []string{"process", kind, "--cpus", bench.CPUList(p.CPUs).Numbers(), fmt.Sprintf("--fifo=%d", p.FIFO),
			fmt.Sprintf("--gomaxprocs=%d", p.MaxProcs), "--rttime", p.RTTime.String(), "--rt", string(mode)}
	}}, nil
}

func obey(kind, rtError string) error {
	ctl, err := opcua.OpenControl(controlFD)
	if err != nil {
		return err
	}
	defer ctl.Close()
	switch kind {
	case bench.ProcessServer:
		rings, err := openRings(opcua.ServerRings)
		if err != nil {
			return err
		}
		return opcua.Serve(ctl, rings, rtError)
	case bench.ProcessClient:
		rings, err := openRings(opcua.ClientRings)
		if err != nil {
			return err
		}
		return opcua.Measure(ctl, rings, rtError)
	case run.FloorReceive:
		return opcua.FloorReceive(ctl, rtError)
	case run.FloorSend:
		return opcua.FloorSend(ctl, rtError)
	}
	return fmt.Errorf("unknown kind of process %q", kind)
}

func openRings(n int) ([]*record.Ring, error) {
	var rings []*record.Ring
	for i := range n {
		f := os.NewFile(uintptr(controlFD+1+i), "ring")
		m, err := rt.MapShared(f, record.RingBytes(record.RingSlots))
		if err != nil {
			return nil, err
		}
		r, err := record.NewRing(m.Mem, false)
		if err != nil {
			return nil, err
		}
		rings = append(rings, r)
	}
	return rings, nil
}
