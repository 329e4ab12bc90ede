package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"opcycle/bench"

	"github.com/prometheus/client_golang/prometheus"
)

// Every query of the dashboard asks for metrics and labels that a run has.
func TestDashboardAsksForWhatIsServed(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("containers", "grafana.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		UID    string `json:"uid"`
		Panels []struct {
			Title, Description string
			Targets            []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	descriptions := make(chan *prometheus.Desc, 100)
	go func() {
		defer close(descriptions)
		newExposition(bench.Plan{Task: bench.Task{Interval: 10 * time.Millisecond}}, nil).Describe(descriptions)
	}()
	for d := range descriptions {
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1]
		served[name] = true
		served[name+"_bucket"] = true
	}
	asked := regexp.MustCompile(`opcycle_\w+`)
	for _, p := range board.Panels {
		if p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("%s: no description or no query", p.Title)
		}
		for _, q := range p.Targets {
			names := asked.FindAllString(q.Expr, -1)
			if len(names) == 0 || !strings.Contains(q.Expr, "$instance") {
				t.Errorf("%s: %s", p.Title, q.Expr)
			}
			for _, n := range names {
				if !served[n] {
					t.Errorf("%s asks for %s, which nobody serves", p.Title, n)
				}
			}
		}
	}
}
