package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// CATConfig asks for a cache allocation (Intel CAT, AMD L3 QoS): cache ways for the measured
// CPUs that the other CPUs of the same cache do not fill.
type CATConfig struct {
	Mode     string `yaml:"mode"`      // off | auto | require
	RTMask   string `yaml:"rt_mask"`   // ways of the measured CPUs: auto (the upper half), or hexadecimal
	RestMask string `yaml:"rest_mask"` // ways of the others: auto (the lower half), or hexadecimal
	Level    string `yaml:"level"`     // auto (L3, else L2) | 3 | 2
}

// The words of a cache allocation. auto goes on without and says so; require ends before
// measuring; of a mask and a level auto is found out.
const (
	CATOff     = "off"
	CATAuto    = "auto"
	CATRequire = "require"
)

// CATPlan is a cache allocation that a plan asks for, in the words of CATConfig.
type CATPlan struct {
	Mode     string `json:"mode"`
	RTMask   string `json:"rt_mask"`
	RestMask string `json:"rest_mask"`
	Level    string `json:"level"`
}

// plan is c resolved; nil: none is asked for.
func (c CATConfig) plan() *CATPlan {
	if c.Mode == CATOff {
		return nil
	}
	p := CATPlan(c)
	return &p
}

// isWays tells a mask of cache ways as resctrl has them.
func isWays(s string) bool {
	_, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(s), "0x"), 16, 64)
	return err == nil
}

func (v *validator) cat() {
	c := &v.c.CAT
	v.word("cat.mode", c.Mode, []string{CATOff, CATAuto, CATRequire})
	v.word("cat.level", c.Level, []string{CATAuto, "3", "2"})
	for _, m := range []struct{ key, text string }{{"cat.rt_mask", c.RTMask}, {"cat.rest_mask", c.RestMask}} {
		v.check(m.text == CATAuto || isWays(m.text), m.key, fmt.Sprintf("%q is no mask of cache ways", m.text), `write hexadecimal digits in quotes, such as "f0", or auto`)
		v.check(c.Mode != CATOff || m.text == CATAuto, m.key, "given, and cat is off", "ask for an allocation, cat.mode: auto", "cat.mode")
	}
	v.check(c.Mode != CATOff || c.Level == CATAuto, "cat.level", "given, and cat is off", "ask for an allocation, cat.mode: auto", "cat.mode")
}
