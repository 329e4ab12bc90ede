package judge

import (
	"slices"

	"opcycle/bench"
)

// Clients are the objects that hold the packets of one client each, client 1 first.
func Clients(f *bench.File) []string {
	var out []string
	for i := range f.Figures {
		if g := &f.Figures[i]; g.Series == "packets" && !slices.Contains(out, g.Object) {
			out = append(out, g.Object)
		}
	}
	return out
}

// ClientName is the name of an object of Clients for a reader: the figures of client 1 stand
// under "item", whoever else there is.
func ClientName(f *bench.File, object string) string {
	if all := Clients(f); len(all) > 0 && all[0] == object {
		return "client 1"
	}
	return object
}

// events are the late and missed cycles of the clients.
type events struct {
	clients  []string
	expected int64 // of each
	all      int64
	worst    string // the client with most of them, the first of equals
	most     int64  // of the worst
	even     bool   // every client has as many
}

// cycles writes how many cycles were expected of how many clients: "6,000 x 20 clients".
func (e events) cycles() string { return of(e.expected, len(e.clients)) }

func of(n int64, clients int) string {
	if clients < 2 {
		return Group(n)
	}
	return Group(n) + " x " + plural(int64(clients), "client")
}

// countEvents adds up what the clients tell; ok is false when one does not tell.
func countEvents(f *bench.File) (e events, ok bool) {
	e = events{clients: Clients(f), even: true}
	for i, o := range e.clients {
		expected := find(f, o, "packets", "expected")
		late, missed := find(f, o, "packets", "late"), find(f, o, "packets", "missed")
		if !expected.OK || !late.OK || !missed.OK {
			return e, false
		}
		n := int64(late.Value) + int64(missed.Value)
		if i == 0 {
			e.expected, e.worst, e.most = int64(expected.Value), o, n
		}
		e.even = e.even && n == e.most
		if n > e.most {
			e.worst, e.most = o, n
		}
		e.all += n
	}
	return e, len(e.clients) > 0
}

// sum adds up one statistic of every client; ok is false when one of them is n/a.
func sum(f *bench.File, series, statistic string) (total int64, ok bool) {
	all := Clients(f)
	for _, o := range all {
		r := find(f, o, series, statistic)
		if !r.OK {
			return 0, false
		}
		total += int64(r.Value)
	}
	return total, len(all) > 0
}
