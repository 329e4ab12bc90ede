package imports

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"opcycle/bench"
)

// StressNG reads what "stress-ng --metrics --yaml FILE" writes: one object a stressor, its
// bogo operations, rates and processor time. A file that was cut off, or without metrics,
// is an error that names the line where it is known.
//
// https://manpages.debian.org/bookworm/stress-ng/stress-ng.1.en.html
func StressNG(name string, data []byte) (bench.SuiteResult, error) {
	out := bench.SuiteResult{Suite: "stress", Role: bench.RoleNoise, Complete: true}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return out, fmt.Errorf("%s: not the YAML of stress-ng: %w", name, err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return out, fmt.Errorf("%s: not the YAML of stress-ng: no groups of keys; write it with stress-ng --metrics --yaml FILE", name)
	}
	top := doc.Content[0]
	if info := keyOf(top, "system-info"); info != nil {
		out.Settings = append(out.Settings, bench.Setting{Name: "stress-ng-version", Value: valueOf(info, "stress-ng-version")})
		if n := keyOf(info, "epoch-secs"); n != nil {
			var s int64
			if n.Decode(&s) == nil && s > 0 {
				out.Started = time.Unix(s, 0).UTC()
			}
		}
	}
	metrics := keyOf(top, "metrics")
	if metrics == nil || metrics.Kind != yaml.SequenceNode || len(metrics.Content) == 0 {
		return out, fmt.Errorf("%s: line %d: no metrics; run stress-ng with --metrics and let it end by itself or by SIGINT", name, top.Line)
	}
	var longest float64
	for _, m := range metrics.Content {
		figures, wall, err := stressor(m)
		if err != nil {
			return out, fmt.Errorf("%s: %w", name, err)
		}
		out.Figures = append(out.Figures, figures...)
		longest = max(longest, wall)
	}
	out.Ended = out.Started.Add(time.Duration(longest * float64(time.Second)))
	return out, nil
}

// stressor reads one entry of the metrics.
func stressor(m *yaml.Node) ([]bench.Figure, float64, error) {
	object := valueOf(m, "stressor")
	if m.Kind != yaml.MappingNode || object == "" {
		return nil, 0, fmt.Errorf("line %d: a stressor without a name", m.Line)
	}
	var out []bench.Figure
	var wall float64
	for _, k := range []struct {
		key, series, statistic, unit string
		factor                       float64
	}{
		{"bogo-ops", "bogo_ops", "count", "1", 1},
		{"bogo-ops-per-second-real-time", "bogo_ops", "rate", "1/s", 1},
		{"wall-clock-time", "time", "wall", "ns", 1e9},
		{"user-time", "time", "user", "ns", 1e9},
		{"system-time", "time", "system", "ns", 1e9},
	} {
		f := bench.Figure{Suite: "stress", Object: object, Series: k.series, Statistic: k.statistic, Unit: k.unit}
		n := keyOf(m, k.key)
		if n == nil {
			f.NA = "stress-ng did not say"
			out = append(out, f)
			continue
		}
		var v float64
		if err := n.Decode(&v); err != nil || v != v || v < 0 {
			return nil, 0, fmt.Errorf("line %d: %s: %q is no number", n.Line, k.key, n.Value)
		}
		v *= k.factor
		f.Value = &v
		if k.statistic == "wall" {
			wall = v / 1e9
		}
		out = append(out, f)
	}
	if out[0].Value == nil {
		return nil, 0, fmt.Errorf("line %d: %s has no bogo-ops", m.Line, object)
	}
	return out, wall, nil
}

func keyOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func valueOf(n *yaml.Node, key string) string {
	if c := keyOf(n, key); c != nil {
		return c.Value
	}
	return ""
}
