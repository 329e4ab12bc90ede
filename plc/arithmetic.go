package plc

// counters is the number of totalisers that one iteration of ARITHMETIC scans.
const counters = 128

// arithmetic is the program ARITHMETIC: DINT and LINT arithmetic. One iteration is one
// scan of 128 totalisers; in Structured Text, for each totaliser i:
//
//	raw  := raw * 1664525 + 1013904223;              (* DWORD: the field device *)
//	n    := UDINT_TO_DINT(raw SHR 16) - 32768;       (* raw counts of an encoder *)
//	rate := (n * span[i] + rest[i]) / scale[i];      (* engineering units, DINT *)
//	rest[i] := (n * span[i] + rest[i]) MOD scale[i]; (* carried, nothing is lost *)
//	sum[i] := sum[i] + ABS(rate);                    (* LINT *)
//	IF sum[i] > 1000000 THEN sum[i] := sum[i] - 1000000; batches := batches + 1; END_IF
//
// span is 17 … 271 and scale 101 … 1371: the products fit a DINT, the divisors are never
// zero and are read from memory, so that no compiler turns the division into a product.
type arithmetic struct {
	span, scale, rest [counters]int32
	sum               [counters]int64
	batches           int64
}

func newArithmetic() *arithmetic {
	p := new(arithmetic)
	for i := range p.span {
		p.span[i], p.scale[i] = 17+2*int32(i), 101+10*int32(i)
	}
	return p
}

// Run scans the totalisers iterations times from zero. hot.
func (p *arithmetic) Run(iterations int64) int64 {
	raw := uint32(1)
	p.rest, p.sum, p.batches = [counters]int32{}, [counters]int64{}, 0
	for ; iterations > 0; iterations-- {
		for i := range p.sum {
			raw = signal(raw)
			v := (int32(raw>>16)-32768)*p.span[i] + p.rest[i]
			rate := v / p.scale[i]
			p.rest[i] = v % p.scale[i]
			if rate < 0 {
				rate = -rate
			}
			p.sum[i] += int64(rate)
			if p.sum[i] > 1_000_000 {
				p.sum[i] -= 1_000_000
				p.batches++
			}
		}
	}
	sum := p.batches
	for i := range p.sum {
		sum = (sum*31+p.sum[i])*31 + int64(p.rest[i])
	}
	return sum
}
