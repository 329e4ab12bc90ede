package bench

import "testing"

func TestReferenceNumber(t *testing.T) {
	tests := []struct {
		value, unit string
		want        Published
	}{
		{"5597", "us", Published{Value: 5_597_000, Unit: "ns", OK: true}},
		{"-1842", "us", Published{Value: -1_842_000, Unit: "ns", OK: true}},
		{"00001", "us", Published{Value: 1000, Unit: "ns", OK: true}},
		{"0.4", "us", Published{Value: 400, Unit: "ns", OK: true}},
		{"0.02K", "us", Published{Value: 20_000, Unit: "ns", OK: true}},
		{"6K", "us", Published{Value: 6_000_000, Unit: "ns", OK: true}},
		{"218", "ns", Published{Value: 218, Unit: "ns", OK: true}},
		{"21.89", "cycles", Published{Value: 21.89, Unit: "cycles", OK: true}},
		{"308", "MB/s", Published{Value: 308, Unit: "MB/s", OK: true}},
		{"0", "1", Published{Unit: "1", OK: true}}, // none missed is a count
		{"0", "us", Published{Unit: "ns", NA: ZeroCell}},
		{"0.0K", "us", Published{Unit: "ns", NA: ZeroCell}},
		{"0000`", "us", Published{Unit: "ns", NA: MisprintedCell}},
		{"", "us", Published{Unit: "ns", NA: BlankCell}},
		{"", "text", Published{Unit: "text", NA: BlankCell}},
		{"No L2 cache?", "text", Published{Unit: "text", NA: TextCell}},
		{"K", "us", Published{Unit: "ns", NA: MisprintedCell}},
		{"1e3", "us", Published{Unit: "ns", NA: MisprintedCell}},
		{"NaN", "us", Published{Unit: "ns", NA: MisprintedCell}},
		{"0x10", "1", Published{Unit: "1", NA: MisprintedCell}},
		{"1_000", "1", Published{Unit: "1", NA: MisprintedCell}},
	}
	for _, tt := range tests {
		if got := (Reference{Value: tt.value, Unit: tt.unit}).Number(); got != tt.want {
			t.Errorf("%q %s: %+v, want %+v", tt.value, tt.unit, got, tt.want)
		}
	}
}
