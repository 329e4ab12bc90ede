package main

import (
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"opcycle/bench"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

var update = flag.Bool("update", false, "write the goldens")

// scrape reads a page of metrics as Prometheus does.
func scrape(t *testing.T, url string) string {
	t.Helper()
	c := http.Client{Timeout: 10 * time.Second}
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", url, res.Status, err, body)
	}
	return string(body)
}

// sample is one line of a page; −1 when it is not there.
func sample(t *testing.T, page, name string) int {
	t.Helper()
	for line := range strings.Lines(page) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(f)
		}
	}
	return -1
}

func TestMetricsOfARunUnderWay(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--metrics=127.0.0.1:0", "--duration", "3s", "--warm-up", "500ms", "--out", out)
	c.says("/metrics\n")
	url := regexp.MustCompile(`http://\S+/metrics`).FindString(c.stderr.String())
	if page := scrape(t, url); sample(t, page, "opcycle_packets_due_total") != -1 {
		t.Errorf("packets before the measuring phase:\n%s", page)
	}
	c.phase(bench.PhaseMeasure)
	var page string
	count := `opcycle_execution_time_seconds_count`
	if !c.until(func() bool { page = scrape(t, url); return sample(t, page, count) > 100 }) {
		t.Fatalf("the run ended without a series in\n%s", page)
	}
	if strings.Contains(c.stderr.String(), bench.PhaseDrain) {
		t.Error("nothing was counted before the measuring phase had ended")
	}
	due, decided := sample(t, page, "opcycle_packets_due_total"), 0
	for _, o := range []string{"late", "missed", "on_time"} {
		decided += sample(t, page, `opcycle_packets_total{client="item",outcome="`+o+`"}`)
	}
	if decided < 100 || decided > due || due > 300 {
		t.Errorf("%d decided of %d due of 300:\n%s", decided, due, page)
	}
	if n := sample(t, page, count); n != sample(t, page, `opcycle_execution_time_seconds_bucket{le="+Inf"}`) {
		t.Errorf("the last bucket does not hold all %d", n)
	}
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
	c.code()
	if _, err := http.Get(url); err == nil {
		t.Error("still served after the run")
	}
}

func TestMetricsPage(t *testing.T) {
	live := bench.Live{Progress: bench.Progress{Phase: bench.PhaseMeasure, Share: 0.25}, Due: 15,
		Clients: []bench.LiveClient{
			{Object: "item", Outcomes: map[bench.Outcome]int64{bench.OnTime: 12, bench.Late: 1, bench.Missed: 1},
				Missed: map[bench.Cause]int64{bench.SkippedRelease: 1}, Late: map[bench.Cause]int64{bench.LateTask: 1}},
			{Object: "client 2", Outcomes: map[bench.Outcome]int64{bench.OnTime: 14}}},
		Series: []bench.LiveSeries{{Object: "task", Name: "dead_time", Count: 14, Sum: 90_000_000, Min: -2_000_000, Max: 7_000_000}}}
	for i := range exposedBounds(int64(10 * time.Millisecond)) {
		live.Series[0].AtMost = append(live.Series[0].AtMost, int64(min(i+1, 14)))
	}
	plan := bench.Plan{Task: bench.Task{Interval: 10 * time.Millisecond}}
	var said strings.Builder
	m, err := listenMetrics("127.0.0.1:0", plan, &said)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	m.watch(plan).See(&live)
	page := scrape(t, strings.Fields(said.String())[1])
	page = regexp.MustCompile(`(?m)^opcycle_build_info.*$`).ReplaceAllString(page, `opcycle_build_info{…} 1`)
	golden := filepath.Join("testdata", "metrics.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), page); diff != "" {
		t.Error(diff)
	}
}

func TestMetricsAddressThatCannotBeServed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, addr := range []string{taken.Addr().String(), "nonsense", "127.0.0.1:99999"} {
		out := filepath.Join(t.TempDir(), "out")
		c := start(t, "", "run", "--metrics="+addr, "--duration", "1s", "--out", out)
		if code := c.code(); code != 2 || !strings.Contains(c.stderr.String(), "--metrics") {
			t.Errorf("%s: exit %d, %s", addr, code, c.stderr.String())
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a result folder of a run that never began", addr)
		}
	}
}
