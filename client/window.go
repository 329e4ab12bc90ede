package client

// windowRows is how many indices may be incomplete at once: a queue that holds more than
// this many cycles is longer than the server allows.
const windowRows = 16384

// window counts, per grid index, how many items' values came. Rows are found by index
// modulo its size; a row that is taken over by a newer index is reported if incomplete.
type window struct {
	rows  []row
	touch []int64
}

type row struct {
	k     int64
	count int64
	done  bool
}

func (w *window) init() {
	w.rows = make([]row, windowRows)
	for i := range w.rows {
		w.rows[i].k = -1
	}
	w.touch = make([]int64, 0, 64)
}

func (w *window) at(k int64) *row { return &w.rows[k&(windowRows-1)] }

// add counts one value of index k; an older index in its row is handed to partial first.
func (w *window) add(k, items int64, partial func(k, count int64)) {
	r := w.at(k)
	if r.k > k {
		return // older than the window: counted by the caller as re-ordered, too late to complete
	}
	if r.k != k {
		if r.k >= 0 && !r.done && r.count > 0 {
			partial(r.k, r.count)
		}
		*r = row{k: k}
	}
	r.count++
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

// settle reports whether k has just become complete, with its count of values.
func (w *window) settle(k, items int64) (count int64, done bool) {
	r := w.at(k)
	if r.k != k || r.done || r.count < items {
		return 0, false
	}
	r.done = true
	return r.count, true
}

func (w *window) complete(k int64) bool {
	r := w.at(k)
	return r.k == k && r.done
}

// flush hands every incomplete index to partial.
func (w *window) flush(items int64, partial func(k, count int64)) {
	for i := range w.rows {
		if r := &w.rows[i]; r.k >= 0 && !r.done && r.count > 0 {
			partial(r.k, r.count)
			r.done = true
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
