package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"opcycle/client"

	"github.com/spf13/cobra"
)

// The limits of one question to a server, and the pause between two of --wait.
const (
	healthLimit = 3 * time.Second
	healthPause = 250 * time.Millisecond
)

func healthVerb() *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "health [opc.tcp://HOST:PORT]",
		Short: "ask an OPC UA server for its state",
		Long: `health connects to an OPC UA server, reads its ServerState and says it. It asks once, within
3 s; --wait asks until the server is Running, or the time is over. The health check of the
image is this verb. Without an argument it asks ` + defaultListen + `, where
"opcycle serve" listens.

Every question is a connection, a session and some milliseconds of a CPU that the server may
be measured on: ask before a run, not during one.

Exit codes: 0 Running, 1 it answers and is in another state, 2 no answer.`,
		Example: `  opcycle health                                        this host's "opcycle serve"
  opcycle health opc.tcp://plc:4840 --wait 30s          until it is there`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			endpoint := defaultListen
			if len(args) > 0 {
				endpoint = args[0]
			}
			return health(cmd.Context(), endpoint, wait, cmd.OutOrStdout())
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 0, "ask until the server is Running, for this long at most (once)")
	return cmd
}

func health(ctx context.Context, endpoint string, wait time.Duration, stdout io.Writer) error {
	if wait < 0 {
		return fmt.Errorf("--wait %s is in the past; write a time such as 30s", wait)
	}
	if err := checkEndpoint("health", endpoint); err != nil {
		return err
	}
	for end := time.Now().Add(wait); ; {
		err := askState(ctx, endpoint, stdout)
		if err == nil || !time.Now().Add(healthPause).Before(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(healthPause):
		}
	}
}

// askState asks once. What is not Running is a verdict, what does not answer an error.
func askState(ctx context.Context, endpoint string, stdout io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, healthLimit)
	defer cancel()
	state, err := client.State(ctx, endpoint)
	if err != nil {
		return fmt.Errorf("%w; is `opcycle serve` running there?", err)
	}
	name := strings.TrimPrefix(state.String(), "ServerState")
	fmt.Fprintf(stdout, "%s: %s\n", endpoint, name)
	if name != "Running" {
		return verdict{exitFailed}
	}
	return nil
}
