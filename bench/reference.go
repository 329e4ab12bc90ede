package bench

import (
	"strconv"
	"strings"
)

// Reference is one published figure of somebody else, a row of configs/reference/*.csv.
type Reference struct {
	Suite      string // ours that measures the same kind of thing: "opcua"
	Vendor     string
	Product    string
	Platform   string
	Table      string // its title as printed
	Run        string // which of the table's runs: a line or a column of it, e.g. "With CAT"
	Row        string // the figure as printed by the vendor, e.g. "Execution Time - Minimum"
	Object     string // our machine name; empty where a suite has one object only
	Series     string
	Statistic  string
	Value      string // as printed, empty where the cell is blank; Number reads it
	Unit       string
	Conditions string // with the build, where it is published
	Source     string
	Date       string
	// Comparable, per topology (PLCHost): yes | topology | definition | inconsistent |
	// unknown. Suites without a PLC have the same word in both.
	ComparableServer, ComparableClient string
	Why                                string // one sentence
}

// Comparable returns the word for host.
func (r Reference) Comparable(host PLCHost) string {
	if host == HostClient {
		return r.ComparableClient
	}
	return r.ComparableServer
}

// Why a reference has no number. Such a row stands in every list, and no difference to it
// is printed.
const (
	BlankCell      = "the cell is blank: not measured"
	TextCell       = "a text, not a number"
	ZeroCell       = "printed as 0: less than the last digit shows"
	MisprintedCell = "no number as printed"
)

// Published is what a reference says in figures. Value counts only when OK; else NA is
// BlankCell, TextCell, ZeroCell or MisprintedCell. Unit is that of our machine names: times in "ns".
type Published struct {
	Value float64
	Unit  string
	NA    string
	OK    bool
}

// Number reads the value. A K behind it is a factor of 1000, as lmbench 1.9 prints its
// times. A time, rate or frequency printed as 0 (0.0K too) is only smaller than its last
// digit, so it is no number; a count of 0 is one.
func (r Reference) Number() Published {
	unit, factor := r.Unit, 1.0
	if unit == "us" {
		unit, factor = "ns", 1e3
	}
	digits, thousands := strings.CutSuffix(r.Value, "K")
	if thousands {
		factor *= 1e3
	}
	v, err := strconv.ParseFloat(digits, 64)
	switch {
	case r.Value == "":
		return Published{Unit: unit, NA: BlankCell}
	case unit == "text":
		return Published{Unit: unit, NA: TextCell}
	case err != nil || strings.Trim(digits, "+-.0123456789") != "": // 0x1p-2, Inf and 1e9 are not print
		return Published{Unit: unit, NA: MisprintedCell}
	case v == 0 && unit != "1":
		return Published{Unit: unit, NA: ZeroCell}
	}
	return Published{Value: v * factor, Unit: unit, OK: true}
}
