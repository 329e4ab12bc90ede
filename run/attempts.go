package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// attemptLimit bounds what is tried before a plan: it takes some 20 ms where nothing hangs.
const attemptLimit = 3 * time.Second

// Tries has the calls that a plan needs tried by another process: exe with args is one
// that reads a bench.Need from its standard input and writes what came of host.Try. The
// measured CPUs are claimed meanwhile: where another opcycle process measures, nothing is
// tried, and the error says so. cold.
func Tries(ctx context.Context, exe string, args []string, n bench.Need) ([]bench.Attempt, error) {
	release, err := claim(n.Measured)
	if err != nil {
		return nil, err
	}
	defer release()
	order, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("try what the plan needs: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	cmd.SysProcAttr = rt.OwnGroup()
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	var said tail
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(order), &out, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it hung and was killed after %s", attemptLimit)
		}
		return nil, fmt.Errorf("try what the plan needs: %w: %s", err, said.String())
	}
	var got []bench.Attempt
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		return nil, fmt.Errorf("try what the plan needs: the child's answer: %w", err)
	}
	return got, nil
}
