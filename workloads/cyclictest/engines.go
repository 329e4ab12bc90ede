package cyclictest

import (
	"context"
	"errors"

	"opcycle/bench"
)

// real runs rt-tests' cyclictest. Not yet.
func (r *runner) real(context.Context, bench.Job) (bench.SuiteResult, error) {
	return bench.SuiteResult{}, errors.New("the engine rt-tests is not built yet")
}

// compareEngines alternates both. Not yet.
func (r *runner) compareEngines(context.Context, bench.Job) (bench.SuiteResult, error) {
	return bench.SuiteResult{}, errors.New("the cross-check is not built yet")
}
