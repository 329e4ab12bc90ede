package client

// windowRows is how many indices may be incomplete at once: a queue that holds more than
// this many cycles is longer than the server allows.
const windowRows = 16384

// window knows, per grid index, which items' values came. Rows are found by index modulo
// its size; a row that is taken over by a newer index is reported if incomplete.
type window struct {
	items int64
	rows  []row
	touch []int64
	spare [][]uint64 // cleared item sets; a row holds one only from its first value to its last
}

// row is one index. A value counts once, however often it comes: two of one item do not
// stand for one of each.
type row struct {
	k     int64
	count int64 // items whose value came
	again int64 // values that came once more before the row was complete
	done  bool
	came  []uint64 // bit i: item i; nil outside the stretch above
}

func (w *window) init(items int) {
	w.items = int64(items)
	w.rows = make([]row, windowRows)
	for i := range w.rows {
		w.rows[i].k = -1
	}
	w.touch = make([]int64, 0, 64)
	w.spare = make([][]uint64, 0, windowRows)
	w.grow()
}

// grow makes item sets for some more incomplete rows: never more than there are rows.
func (w *window) grow() {
	const some = 64
	words := (int(w.items) + 63) / 64
	block := make([]uint64, some*words)
	for i := range some {
		w.spare = append(w.spare, block[i*words:(i+1)*words:(i+1)*words])
	}
}

// borrow takes a cleared item set. warm: it allocates only when more rows are incomplete
// than ever before.
func (w *window) borrow() []uint64 {
	if len(w.spare) == 0 {
		w.grow()
	}
	n := len(w.spare) - 1
	set := w.spare[n]
	w.spare = w.spare[:n]
	return set
}

// release takes the item set of r back.
func (w *window) release(r *row) {
	if r.came != nil {
		clear(r.came)
		w.spare = append(w.spare, r.came)
		r.came = nil
	}
}

func (w *window) at(k int64) *row { return &w.rows[k&(windowRows-1)] }

// add counts the value of index k and one item, and reports whether it had come before.
// An older index in its row is handed to partial first.
func (w *window) add(k int64, item uint32, partial func(r *row)) (again bool) {
	r := w.at(k)
	if r.k > k {
		return false // older than the window: nothing is known of it, too late to complete
	}
	if r.k != k {
		if r.k >= 0 && !r.done && r.count > 0 {
			partial(r)
		}
		w.release(r)
		*r = row{k: k, came: w.borrow()}
	}
	if r.done {
		return true
	}
	word, bit := &r.came[item/64], uint64(1)<<(item%64)
	if *word&bit != 0 {
		r.again++
		return true
	}
	*word |= bit
	r.count++
	return false
}

// touched notes that the message at hand had a value of k.
func (w *window) touched(k int64) {
	if n := len(w.touch); n > 0 && w.touch[n-1] == k {
		return
	}
	w.touch = append(w.touch, k)
}

// drainTouched returns the noted indices and forgets them; valid until the next touched.
func (w *window) drainTouched() []int64 {
	t := w.touch
	w.touch = w.touch[:0]
	return t
}

// settle returns the row of k if it has just become complete, else nil; valid until the
// next add.
func (w *window) settle(k int64) *row {
	r := w.at(k)
	if r.k != k || r.done || r.count < w.items {
		return nil
	}
	r.done = true
	w.release(r)
	return r
}

// flush hands every incomplete index to partial.
func (w *window) flush(partial func(r *row)) {
	for i := range w.rows {
		if r := &w.rows[i]; r.k >= 0 && !r.done && r.count > 0 {
			partial(r)
			r.done = true
			w.release(r)
		}
	}
}

// sequence follows the sequence numbers of one subscription: which are still missing.
// Part 4, 7.21: they start at 1, wrap from 2^32−1 to 1, and keep-alives use none up.
type sequence struct {
	newest uint32
	open   map[uint32]struct{}
	lost   int64
}

func (s *sequence) reset() {
	s.lost += int64(len(s.open))
	s.newest, s.open = 0, make(map[uint32]struct{})
}

// take notes that n came, in whatever order.
func (s *sequence) take(n uint32) {
	if s.newest == 0 {
		s.newest = n
		return
	}
	if int32(n-s.newest) <= 0 {
		delete(s.open, n)
		return
	}
	for m := s.newest + 1; m != n && len(s.open) < 1<<16; m++ {
		if m != 0 {
			s.open[m] = struct{}{}
		}
	}
	s.newest = n
}

func (s *sequence) missing() int64 { return s.lost + int64(len(s.open)) }
