// Command opcycle measures whether a machine holds an industrial control cycle while
// OPC UA runs beside it. Each verb is a file verb_*.go; this one maps errors to exit codes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes that a script can trust.
const (
	exitPass        = 0
	exitFailed      = 1 // valid, and a budget failed
	exitNotMeasured = 2 // usage, refused, invalid, incomplete or inconclusive
)

// verdict is the error of a run that was measured and reported, but did not pass.
type verdict struct{ code int }

func (v verdict) Error() string { return fmt.Sprintf("exit %d", v.code) }

func main() {
	// A probe measures on its main thread (suites.md, R3). A conductor keeps it: /proc/self is
	// that thread, and a locked goroutine that moved and ended on it would leave it moved.
	if len(os.Args) > 1 && os.Args[1] != processName {
		runtime.LockOSThread()
	}
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var v verdict
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &v):
		return v.code
	}
	fmt.Fprintln(stderr, "opcycle:", err)
	return exitNotMeasured
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "opcycle",
		Short: "Does this machine hold my control cycle while OPC UA runs beside it?",
		Long: `opcycle measures an OPC UA control cycle: an embedded OPC UA server simulates a PLC
task, a pinned client watches every cycle of it, and the report puts this machine's
figures beside the vendor's.

  opcycle run                 one minute, the vendor's benchmark, no flag needed
  opcycle report run.json     the same report again, from the result alone
  opcycle check               what this machine lacks for it, and what mends that

Exit codes: 0 every budget passed, 1 a budget failed, 2 not measured (usage, refused,
invalid, interrupted).`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s --help lists the flags", err, c.CommandPath())
	})
	root.AddCommand(runVerb(), checkVerb(), reportVerb(), referencesVerb(), compareVerb(), tailVerb(), verifyVerb(), schemaVerb(), serveVerb(), measureVerb(), healthVerb(), deployVerb(), budgetsVerb(), suiteVerb(), campaignVerb(), importVerb(), processVerb(), probeVerb(), attemptVerb())
	return root
}

// version is the module's version, or its commit when it was built from a checkout.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	if v := b.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return "dev " + setting(b, "vcs.revision")
}

func setting(b *debug.BuildInfo, key string) string {
	for _, s := range b.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
