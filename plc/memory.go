package plc

// MEMORY walks cells of one cache line each; 4096 of them are 256 KiB: larger than every
// L1 data cache in use (32 to 128 KiB), within the L2 of the machines that are measured.
const (
	cells = 4096
	hops  = 48 // cells that one iteration visits
)

// cell is one line of the array. Links are indices, not pointers: the collector has
// nothing to look at, and the values are the same in every process.
type cell struct {
	next  uint32
	value uint32
	out   uint64 // written, never read by the walk
	_     [48]byte
}

// memory is the program MEMORY: loads that depend on each other, and stores. The cells
// are linked into one cycle through all of them in a scrambled order, so that neither the
// caches nor the prefetcher guess the next. One iteration is 48 hops; in Structured Text:
//
//	FOR n := 1 TO 48 DO
//	  i   := cell[i].next;
//	  sum := ROL(sum, 1) + cell[i].value;   (* LWORD *)
//	  cell[i].out := sum;
//	END_FOR
type memory struct {
	cells []cell
}

// newMemory makes, links and thereby touches the cells: Sattolo's shuffle, which always
// gives a single cycle.
func newMemory() *memory {
	p := &memory{cells: make([]cell, cells)}
	for i := range p.cells {
		p.cells[i].next = uint32(i)
	}
	raw := uint32(1)
	for i := uint32(cells - 1); i > 0; i-- {
		raw = signal(raw)
		j := raw >> 8 % i
		p.cells[i].next, p.cells[j].next = p.cells[j].next, p.cells[i].next
		p.cells[i].value = raw
	}
	return p
}

// Run walks hops cells iterations times from cell 0. hot.
func (p *memory) Run(iterations int64) int64 {
	i, sum := uint32(0), uint64(0)
	c := p.cells
	for n := iterations * hops; n > 0; n-- {
		at := &c[i&(cells-1)]
		i = at.next
		sum = sum<<1 | sum>>63
		sum += uint64(at.value)
		at.out = sum
	}
	return int64(sum) ^ int64(i)
}
