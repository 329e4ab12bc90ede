package lmbench

import (
	"opcycle/bench"
	"opcycle/rt"
)

func processorFigures() []figure {
	return []figure{
		{table: tableProcessor, name: "null_call", column: "null call", run: nullCall},
	}
}

func switchingFigures() []figure { return nil }
func latencyFigures() []figure   { return nil }

// nullCall times getppid, which a libc cannot answer by itself.
func nullCall(b *bed) ([]bench.Reading, error) {
	calls, err := b.repeat(func(n int64) (int64, error) {
		t := rt.Now()
		nullCalls(n)
		return rt.Now() - t, nil
	})
	if err != nil {
		return nil, err
	}
	empty, err := b.repeat(func(n int64) (int64, error) {
		t := rt.Now()
		emptyLoop(n)
		return rt.Now() - t, nil
	})
	if err != nil {
		return nil, err
	}
	return []bench.Reading{calls.reading("getppid", median, micros), empty.reading("empty loop, not subtracted", median, micros)}, nil
}

// hot.
//
//go:nosplit
func nullCalls(n int64) {
	for ; n > 0; n-- {
		rt.RawGetppid()
	}
}

// hot.
//
//go:nosplit
//go:noinline
func emptyLoop(n int64) {
	for i := n; i > 0; i-- {
	}
}
