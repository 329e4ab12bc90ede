package run

import (
	"encoding/binary"
	"io"

	"opcycle/bench"
	"opcycle/record"
)

// RecordsLimit is the longest measuring phase, ns, whose records are all kept.
const RecordsLimit = int64(600e9)

// Kept is the number of cycles whose records a run of plan keeps: all, or none of a phase
// longer than RecordsLimit.
func Kept(plan bench.Plan) int64 {
	if int64(plan.Duration) > RecordsLimit {
		return 0
	}
	return plan.Cycles
}

// recordWriter writes the records of the measuring phase as they are: 128 bytes each,
// little endian: kind (uint32, bit 31 set for the client's), flags (uint32), grid index
// and 14 words (int64) in the order of package record.
type recordWriter struct {
	w   io.Writer
	err error
	buf [record.Size]byte
}

func (w *recordWriter) write(r *record.Record, client bool, phase bench.Phase) {
	if w.w == nil || w.err != nil || phase.N == 0 || r.K < phase.First || r.K >= phase.First+phase.N {
		return
	}
	kind := uint32(r.Kind)
	if client {
		kind |= 1 << 31
	}
	le := binary.LittleEndian
	le.PutUint32(w.buf[0:], kind)
	le.PutUint32(w.buf[4:], uint32(r.Flags))
	le.PutUint64(w.buf[8:], uint64(r.K))
	for i, v := range r.A {
		le.PutUint64(w.buf[16+8*i:], uint64(v))
	}
	_, w.err = w.w.Write(w.buf[:])
}
