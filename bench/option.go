package bench

import (
	"fmt"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// Option is one setting of a suite: a flag of "suite NAME", a key in a campaign and in a
// profile, and a line in the result.
type Option struct {
	Name  string // the flag without dashes and the key
	Usage string
	Set   func(text string) error // reads a value; the error says what is expected
	Get   func() string           // the present value, in the form that Set reads
	Bool  bool                    // the flag alone means "on"
}

// Setting is an option as it was in effect.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Settings are the present values of options.
func Settings(options []Option) []Setting {
	out := make([]Setting, len(options))
	for i, o := range options {
		out[i] = Setting{o.Name, o.Get()}
	}
	return out
}

// DurationOption is an option that is at least low.
func DurationOption(name string, v *time.Duration, low time.Duration, usage string) Option {
	return Option{Name: name, Usage: usage, Get: func() string { return v.String() }, Set: func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("%q is no duration; write it with a unit, such as 10ms, 250us or 1m30s", s)
		}
		if d < low {
			return fmt.Errorf("%s is too short; use %s or more", d, low)
		}
		*v = d
		return nil
	}}
}

// IntOption is a whole number from low to high.
func IntOption(name string, v *int, low, high int, usage string) Option {
	return Option{Name: name, Usage: usage, Get: func() string { return strconv.Itoa(*v) }, Set: func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q is out of range; write a whole number from %d to %d", s, low, high)
		}
		*v = n
		return nil
	}}
}

// WordOption is one of words.
func WordOption(name string, v *string, words []string, usage string) Option {
	return Option{Name: name, Usage: usage, Get: func() string { return *v }, Set: func(s string) error {
		for _, w := range words {
			if s == w {
				*v = s
				return nil
			}
		}
		return fmt.Errorf("%q is not known; %s", s, Suggest(s, words))
	}}
}

// TextOption is any text.
func TextOption(name string, v *string, usage string) Option {
	return Option{Name: name, Usage: usage, Get: func() string { return *v }, Set: func(s string) error { *v = s; return nil }}
}

// CPUOption is a list of CPUs in the kernel's form; empty is the job's.
func CPUOption(name string, v *[]int, usage string) Option {
	return Option{Name: name, Usage: usage, Get: func() string { return CPUList(*v).String() }, Set: func(s string) error {
		l, err := ParseCPUList(s)
		if err == nil {
			*v = l
		}
		return err
	}}
}

// SwitchOption is on or off; the flag alone means on.
func SwitchOption(name string, v *bool, usage string) Option {
	get := func() string {
		if *v {
			return "on"
		}
		return "off"
	}
	return Option{Name: name, Usage: usage, Bool: true, Get: get, Set: func(text string) error {
		var s Switch
		if err := s.UnmarshalYAML(&yaml.Node{Value: text}); err != nil {
			return err
		}
		*v = bool(s)
		return nil
	}}
}
