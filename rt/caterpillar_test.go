package rt

import (
	"testing"
)

func TestCaterpillarWalksItsWholeChain(t *testing.T) {
	k, err := NewCaterpillar(64*1000, 7, false)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	seen := map[*CaterpillarNode]bool{}
	for range k.Nodes() {
		if seen[k.at] {
			t.Fatalf("back at a node after %d of %d", len(seen), k.Nodes())
		}
		seen[k.at] = true
		k.Walk(1)
	}
	start := k.at
	if !seen[start] {
		t.Fatal("the chain is not closed")
	}
	for _, n := range []int64{1, 999, 1000, 1001, 12345} {
		k.Walk(n)
		if got, want := k.Check(); got != want {
			t.Errorf("after %d more: the values sum to %d, not %d", n, got, want)
		}
	}
	k.nodes[3].Value++
	if got, want := k.Check(); got == want {
		t.Error("a value that changed by itself is not seen")
	}
	if n := testing.AllocsPerRun(100, func() { k.Walk(10) }); n != 0 {
		t.Errorf("Walk allocates %v times", n)
	}
}

func TestCaterpillarNeedsTwoNodes(t *testing.T) {
	if _, err := NewCaterpillar(64, 1, false); err == nil {
		t.Error("a chain of one node was made")
	}
}

func BenchmarkCaterpillarWalk(b *testing.B) {
	k, err := NewCaterpillar(1<<20, 7, false)
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	for b.Loop() {
		k.Walk(1000)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/step")
}
