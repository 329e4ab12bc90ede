package rt

import (
	"runtime"
	"slices"
	"testing"
)

func TestSetProcessAffinityMovesEveryThread(t *testing.T) {
	before, err := Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	if len(before) < 2 {
		t.Skip("one CPU")
	}
	hold := make(chan struct{})
	for range 4 { // four more threads
		ready := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(ready)
			<-hold
		}()
		<-ready
	}
	defer close(hold)
	defer func() {
		if err := SetProcessAffinity(before); err != nil {
			t.Error(err)
		}
	}()
	want := before[:1]
	if err := SetProcessAffinity(want); err != nil {
		t.Fatal(err)
	}
	tids, err := Threads()
	if err != nil {
		t.Fatal(err)
	}
	for _, tid := range tids {
		if got, err := Affinity(tid); err == nil && !slices.Equal(got, want) {
			t.Errorf("thread %d of %d may run on %v, want %v", tid, len(tids), got, want)
		}
	}
}
