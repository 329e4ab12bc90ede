package judge

import (
	"math"
	"testing"

	"opcycle/bench"
)

// Three runs whose averages are 100, 110 and 120 and whose seconds differ by nothing, or by
// a known amount.
func TestSpreadOfRuns(t *testing.T) {
	var runs []Run
	for i := range 3 {
		avg, p50, missed := float64(100+10*i), int64(90+i), float64(i)
		s := bench.Series{Object: "task", Name: "execution_time", Unit: "ns", Count: 60, Avg: &avg,
			Quantiles: []bench.Quantile{{Q: 0.5, Value: &p50}}}
		for j := range 6 {
			s.Blocks = append(s.Blocks, bench.Block{Second: int64(j), Count: 10, Sum: int64(10 * (avg + float64(j%2*2)))})
		}
		jitter := bench.Series{Object: "task", Name: "server_transmit_jitter", Unit: "ns", Count: 60, Avg: &avg}
		runs = append(runs, Run{Series: []bench.Series{s, jitter}, Figures: []bench.Figure{
			{Object: "item", Series: "packets", Statistic: "missed", Unit: "1", Value: &missed},
			{Object: "item", Series: "packets", Statistic: "late", Unit: "1", NA: "unknown"},
		}})
	}
	runs[2].Series[0].Quantiles = nil
	rows := map[string]bench.Spread{}
	for _, r := range SpreadOf(runs) {
		rows[r.Series+"."+r.Statistic] = r
	}
	if len(rows) != 3 {
		t.Errorf("%d rows, not avg, p50 and missed: %v", len(rows), rows)
	}
	avg := rows["execution_time.avg"]
	if avg.Min != 100 || avg.Median != 110 || avg.Max != 120 || *avg.Between != 10 || avg.Runs != 3 {
		t.Errorf("%+v", avg)
	}
	// Six seconds of 0 and 2 around each average: variance 1.2, of the mean 0.2.
	if avg.Within == nil || math.Abs(*avg.Within-math.Sqrt(0.2)) > 1e-9 {
		t.Errorf("within %v", avg.Within)
	}
	if p50 := rows["execution_time.p50"]; p50.Runs != 2 || p50.Within != nil {
		t.Errorf("%+v", p50)
	}
	if missed := rows["packets.missed"]; missed.Median != 1 || missed.Unit != "1" {
		t.Errorf("%+v", missed)
	}
	one := SpreadOf(runs[:1])
	if len(one) == 0 || one[0].Between != nil {
		t.Errorf("one run has a spread: %+v", one)
	}
	if SpreadOf(nil) != nil {
		t.Error("no run has one too")
	}
}

func TestAnyPlanMayDifferWherePlansAreCompared(t *testing.T) {
	a := Side{Name: "a", Runs: []Run{{Valid: true, Plan: map[string]string{"task.iterations": "1"}}}}
	b := Side{Name: "b", Runs: []Run{{Valid: true, Plan: map[string]string{"task.iterations": "2"}}}, LeftOut: []string{"b/2: incomplete"}}
	c := Compare(a, b, Rules{AnyPlan: true})
	if len(c.Refused) != 0 || len(c.Differences) != 1 || len(c.LeftOut) != 1 {
		t.Errorf("%+v", c)
	}
	if c := Compare(a, b, Rules{}); len(c.Refused) != 1 {
		t.Errorf("%+v", c)
	}
}
