package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"opcycle/bench"
)

// Run is one run as a comparison sees it: a file's OPC UA run, or one suite's result in it.
type Run struct {
	Name    string // where it comes from
	Suite   string
	Label   string
	Valid   bool
	Early   bool   // nothing is wrong with it but that it was ended before its time
	Why     string // it is not valid
	Plan    map[string]string
	Host    map[string]string // the machine, its tuning and the program
	Series  []bench.Series
	Figures []bench.Figure
}

// RunsOf takes the runs of a file apart. name says where it comes from.
func RunsOf(name string, f bench.File) ([]Run, error) {
	host, err := hostOf(&f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var out []Run
	if f.Suite == bench.SuiteOPCUA {
		plan, err := planOf(f.Plan)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		plan["cat applied"] = strconv.FormatBool(f.CAT != nil && f.CAT.Applied)
		v := Judge(f)
		r := Run{Name: name, Suite: f.Suite, Plan: plan, Host: host, Series: f.Series, Figures: f.Figures, Valid: v.Valid && v.Complete}
		r.Early = !v.Complete && interrupted(&f)
		if !r.Valid {
			r.Why = strings.Join(append(v.Reasons, incomplete(v.Complete)...), "; ")
		}
		return []Run{r}, nil
	}
	for i := range f.Suites {
		s := &f.Suites[i]
		r := Run{Name: name, Suite: s.Suite, Label: s.Label, Host: host, Plan: map[string]string{"suite": s.Suite},
			Series: s.Series, Figures: s.Figures, Valid: len(s.Invalid) == 0 && s.Complete, Early: len(s.Invalid) == 0 && !s.Complete,
			Why: strings.Join(append(slices.Clone(s.Invalid), incomplete(s.Complete)...), "; ")}
		for _, set := range s.Settings {
			r.Plan[set.Name] = set.Value
		}
		r.Plan["cat applied"] = strconv.FormatBool(s.CAT != nil && s.CAT.Applied)
		out = append(out, r)
	}
	return out, nil
}

// interrupted tells a run that its user ended, and nothing else is wrong with it. One that a
// budget ended is none: what ended it is what it measured.
func interrupted(f *bench.File) bool {
	return f.Aborted == nil && !slices.ContainsFunc(f.Invalid, func(why string) bool { return why != "ended early: interrupted" })
}

func incomplete(complete bool) []string {
	if complete {
		return nil
	}
	return []string{"incomplete"}
}

func (r *Run) find(object, name string) *bench.Series {
	for i := range r.Series {
		if s := &r.Series[i]; s.Object == object && s.Name == name && s.Count > 0 {
			return s
		}
	}
	return nil
}

// planOf is a plan as keys and values, without what changes nothing of what is measured:
// names, the folder, sentences, and what is judged by.
func planOf(p bench.Plan) (map[string]string, error) {
	out, err := flatten(p)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(out, func(k, _ string) bool {
		return k == "name" || k == "out" || k == "trace.dir" || strings.HasPrefix(k, "notes") || strings.HasPrefix(k, "budgets") || k == "abort_on_fail"
	})
	return out, nil
}

// hostOf is what a difference of two results may come from beside the plan.
func hostOf(f *bench.File) (map[string]string, error) {
	h := f.Host
	h.BootID, h.TimeNS, h.Unreadable = "", 0, nil // of each boot and process its own
	for i := range h.CPUs {
		if i == 0 {
			h.CPUs = slices.Clone(h.CPUs)
		}
		h.CPUs[i].IRQs = 0 // a counter
	}
	out, err := flatten(h)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(out, func(k, _ string) bool {
		return k == "boot_id" || k == "time_namespace" || strings.HasSuffix(k, ".interrupts") || strings.HasPrefix(k, "unreadable")
	})
	out["program"] = strings.TrimSpace(f.Tool.Version + " " + f.Tool.Commit)
	out["go"] = f.Tool.Go
	for _, p := range f.Processes {
		out["process "+p.Name+": memory locked"] = strconv.FormatBool(p.Locked)
		out["process "+p.Name+": C-states"] = p.CState
		out["process "+p.Name+": GOMAXPROCS"] = strconv.Itoa(p.MaxProcs)
		for _, t := range p.Threads {
			key := fmt.Sprintf("process %s: %s thread", p.Name, t.Role)
			out[key] = fmt.Sprintf("%s %d on CPUs %s", t.Policy, t.Priority, bench.CPUList(t.CPUs))
		}
	}
	return out, nil
}

// flatten is a value's JSON as dotted keys; lists are one value.
func flatten(v any) (map[string]string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	out := map[string]string{}
	var walk func(prefix string, v any) error
	walk = func(prefix string, v any) error {
		if m, ok := v.(map[string]any); ok {
			for k, x := range m {
				if err := walk(strings.TrimPrefix(prefix+"."+k, "."), x); err != nil {
					return err
				}
			}
			return nil
		}
		text, err := json.Marshal(v)
		out[prefix] = strings.Trim(string(text), `"`)
		return err
	}
	return out, walk("", tree)
}

// Difference is one key in which two sides differ.
type Difference struct {
	Kind        string // "plan" or "machine"
	Key         string
	Base, Other string
}

// differences are those of the first run of each side, and within a side.
func differences(base, other Side) []Difference {
	var out []Difference
	add := func(kind string, a, b map[string]string) {
		keys := slices.Sorted(maps.Keys(a))
		for k := range b {
			if _, ok := a[k]; !ok {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			if a[k] != b[k] && !slices.ContainsFunc(out, func(d Difference) bool { return d.Kind == kind && d.Key == k }) {
				out = append(out, Difference{kind, k, orNone(a[k]), orNone(b[k])})
			}
		}
	}
	first := base.Runs[0]
	for _, r := range append(slices.Clone(other.Runs), base.Runs[1:]...) {
		add("plan", first.Plan, r.Plan)
	}
	for _, r := range append(slices.Clone(other.Runs), base.Runs[1:]...) {
		add("machine", first.Host, r.Host)
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// ignored tells whether a key, or what it is a part of, may differ.
func ignored(key string, ignore []string) bool {
	return slices.ContainsFunc(ignore, func(k string) bool { return k == key || strings.HasPrefix(key, k+".") })
}

// refusals say why the sides must not be compared.
func refusals(base, other Side, found []Difference, rules Rules) []string {
	var out []string
	for _, d := range found {
		if d.Kind == "plan" && !rules.AnyPlan && !ignored(d.Key, rules.Ignore) {
			out = append(out, fmt.Sprintf("the plans differ in %s: %s and %s; measure the same plan, or compare all the same with --ignore %s", d.Key, d.Base, d.Other, d.Key))
		}
	}
	for _, s := range []Side{base, other} {
		for _, r := range s.Runs {
			if !r.Valid {
				out = append(out, fmt.Sprintf("%s is not to be compared: %s", r.Name, r.Why))
			}
		}
	}
	return out
}
