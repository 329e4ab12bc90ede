package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Duration is a time.Duration that YAML reads as "10ms" and writes the same way.
type Duration time.Duration

// UnmarshalYAML reads a Go duration.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		return fmt.Errorf("%q is no duration; write it with a unit, such as 10ms, 250us or 1m30s", n.Value)
	}
	*d = Duration(v)
	return nil
}

// MarshalYAML writes a Go duration.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// Iterations is a count of workload iterations, or auto.
type Iterations struct {
	Auto bool
	N    int64
}

// ParseIterations reads "auto" or a whole number.
func ParseIterations(s string) (Iterations, error) {
	if s == "auto" {
		return Iterations{Auto: true}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return Iterations{}, fmt.Errorf("%q is no iteration count; write a whole number from 0 on, or auto", s)
	}
	return Iterations{N: n}, nil
}

// UnmarshalYAML reads "auto" or a whole number.
func (i *Iterations) UnmarshalYAML(n *yaml.Node) (err error) {
	*i, err = ParseIterations(n.Value)
	return err
}

// MarshalYAML writes "auto" or the number.
func (i Iterations) MarshalYAML() (any, error) {
	if i.Auto {
		return "auto", nil
	}
	return i.N, nil
}

// CPUList is a list of processors as the kernel writes them: "0,2-3"; empty is auto.
type CPUList []int

// ParseCPUList reads the kernel's list format, or "auto" for none.
func ParseCPUList(s string) (CPUList, error) {
	s = strings.TrimSpace(s)
	if s == "" || s == "auto" {
		return nil, nil
	}
	var out CPUList
	for _, part := range strings.Split(s, ",") {
		lo, hi, ranged := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(lo)
		b := a
		if err == nil && ranged {
			b, err = strconv.Atoi(hi)
		}
		if err != nil || a < 0 || b < a || b > 8191 {
			return nil, fmt.Errorf("%q is no CPU list; write numbers and ranges such as 2 or 2,4-5", s)
		}
		for c := a; c <= b; c++ {
			out = append(out, c)
		}
	}
	return out, nil
}

// String writes the kernel's list format.
func (l CPUList) String() string {
	var b strings.Builder
	for i := 0; i < len(l); {
		j := i
		for j+1 < len(l) && l[j+1] == l[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(l[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(l[j]))
		}
		i = j + 1
	}
	return b.String()
}

// UnmarshalYAML reads a list in the kernel's format, a YAML list, or auto.
func (l *CPUList) UnmarshalYAML(n *yaml.Node) (err error) {
	if n.Kind == yaml.SequenceNode {
		var v []int
		if err := n.Decode(&v); err != nil {
			return fmt.Errorf("a list of CPU numbers is expected; write [2, 3] or \"2-3\"")
		}
		*l = v
		return nil
	}
	*l, err = ParseCPUList(n.Value)
	return err
}

// MarshalYAML writes the kernel's list format, or auto.
func (l CPUList) MarshalYAML() (any, error) {
	if len(l) == 0 {
		return "auto", nil
	}
	return l.String(), nil
}

// Switch is on or off; YAML's true and false, "enabled" and "disabled" mean the same.
type Switch bool

// UnmarshalYAML reads on or off.
func (s *Switch) UnmarshalYAML(n *yaml.Node) error {
	switch strings.ToLower(n.Value) {
	case "on", "true", "yes", "enabled":
		*s = true
	case "off", "false", "no", "disabled":
		*s = false
	default:
		return fmt.Errorf("%q is neither on nor off; write on or off", n.Value)
	}
	return nil
}

// MarshalYAML writes on or off.
func (s Switch) MarshalYAML() (any, error) {
	if s {
		return "on", nil
	}
	return "off", nil
}

// Numbers writes every CPU by itself: "0,2,3".
func (l CPUList) Numbers() string {
	text := make([]string, len(l))
	for i, c := range l {
		text[i] = strconv.Itoa(c)
	}
	return strings.Join(text, ",")
}
