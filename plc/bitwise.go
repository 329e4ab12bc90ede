package plc

import "math/bits"

// words is the number of LWORDs that one iteration of BITWISE scans.
const words = 132

// bitwise is the program BITWISE: logic on bit strings. One iteration is one scan of 132
// LWORDs of 64 contacts each; in Structured Text, for each word i:
//
//	raw  := raw * 1664525 + 1013904223;                        (* DWORD: the field device *)
//	in   := ROL(DWORD_TO_LWORD(raw) * 16#100000001, i) XOR image[i];
//	rise := in AND NOT last[i];                                (* R_TRIG of 64 contacts *)
//	fall := last[i] AND NOT in;                                (* F_TRIG *)
//	coil := (coil OR rise) AND NOT ROR(fall, 7);               (* RS, reset dominant *)
//	code := coil XOR SHR(coil, 1);                             (* Gray code *)
//	maj  := (in AND last[i]) OR (code AND (in OR last[i]));    (* two out of three *)
//	image[i] := maj XOR SHL(code, 3);
//	last[i] := in;
type bitwise struct {
	image, last [words]uint64
}

func newBitwise() *bitwise { return new(bitwise) }

// Run scans the words iterations times from all contacts open. hot.
func (p *bitwise) Run(iterations int64) int64 {
	raw, coil := uint32(1), uint64(0)
	p.image, p.last = [words]uint64{}, [words]uint64{}
	for ; iterations > 0; iterations-- {
		for i := range p.image {
			raw = signal(raw)
			in := bits.RotateLeft64(uint64(raw)*0x100000001, i) ^ p.image[i]
			last := p.last[i]
			rise, fall := in&^last, last&^in
			coil = (coil | rise) &^ bits.RotateLeft64(fall, -7)
			code := coil ^ coil>>1
			maj := in&last | code&(in|last)
			p.image[i] = maj ^ code<<3
			p.last[i] = in
		}
	}
	sum := coil
	for i := range p.image {
		sum = (sum*31+p.image[i])*31 + p.last[i]
	}
	return int64(sum)
}
