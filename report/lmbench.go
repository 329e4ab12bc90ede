package report

import (
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// lmbenchTable is one table of the seed's summary.
type lmbenchTable struct {
	name, title, unit string
	clock             bool // has a column Mhz
	columns           []lmbenchColumn
}

// lmbenchColumn is one figure: its machine name, and its head in two lines as the seed has it.
type lmbenchColumn struct{ name, head string }

// lmbenchTables are the seed's six tables in its order. "L3 $" is not in the seed.
func lmbenchTables() []lmbenchTable {
	return []lmbenchTable{
		{"processor", "Processor, Processes - times in microseconds - smaller is better", "us", true, []lmbenchColumn{
			{"null_call", "null\ncall"}, {"null_io", "null\nI/O"}, {"stat", "\nstat"}, {"open_close", "open\nclos"}, {"select", "selct\n"},
			{"signal_install", "sig\ninst"}, {"signal_handler", "sig\nhndl"}, {"fork", "fork\nproc"}, {"exec", "exec\nproc"}, {"sh", "sh\nproc"}}},
		{"context_switching", "Context switching - times in microseconds - smaller is better", "us", false, []lmbenchColumn{
			{"context_switch_2p_0k", "2p/0K\nctxsw"}, {"context_switch_2p_16k", "2p/16K\nctxsw"}, {"context_switch_2p_64k", "2p/64K\nctxsw"},
			{"context_switch_8p_16k", "8p/16K\nctxsw"}, {"context_switch_8p_64k", "8p/64K\nctxsw"},
			{"context_switch_16p_16k", "16p/16K\nctxsw"}, {"context_switch_16p_64k", "16p/64K\nctxsw"}}},
		{"local_latency", "*Local* Communication latencies in microseconds - smaller is better", "us", false, []lmbenchColumn{
			{"context_switch_2p_0k", "2p/0K\nctxsw"}, {"pipe", "Pipe\n"}, {"af_unix", "AF\nUNIX"}, {"udp", "UDP\n"}, {"rpc_udp", "RPC/\nUDP"},
			{"tcp", "TCP\n"}, {"rpc_tcp", "RPC/\nTCP"}, {"tcp_connect", "TCP\nconn"}}},
		{"file_vm", "File & VM system latencies in microseconds - smaller is better", "us", false, []lmbenchColumn{
			{"create_0k", "0K File\nCreate"}, {"delete_0k", "0K File\nDelete"}, {"create_10k", "10K File\nCreate"}, {"delete_10k", "10K File\nDelete"},
			{"mmap", "Mmap\nLatency"}, {"protection_fault", "Prot\nFault"}, {"page_fault", "Page\nFault"}}},
		{"local_bandwidth", "*Local* Communication bandwidths in MB/s - bigger is better", "MB/s", false, []lmbenchColumn{
			{"pipe", "Pipe\n"}, {"af_unix", "AF\nUNIX"}, {"tcp", "TCP\n"}, {"file_reread", "File\nreread"}, {"mmap_reread", "Mmap\nreread"},
			{"bcopy_libc", "Bcopy\n(libc)"}, {"bcopy_hand", "Bcopy\n(hand)"}, {"memory_read", "Mem\nread"}, {"memory_write", "Mem\nwrite"}}},
		{"memory_latency", "Memory latencies in nanoseconds - smaller is better", "ns", true, []lmbenchColumn{
			{"l1", "L1 $\n"}, {"l2", "L2 $\n"}, {"l3", "L3 $\n"}, {"main", "Main\nmem"}, {"guess", "Guesses\n"}}},
	}
}

// lmbenchRun is one line of the tables: one run of one result.
type lmbenchRun struct {
	host, os string
	imported bool // printed by another program: no digit is added
	readings []*bench.Reading
}

// lmbench is the summary in the layout of the seed, one line a run, the published lines
// beneath, and then how each figure was measured.
func lmbench(p *printer, results []*bench.SuiteResult, refs []bench.Reference) {
	p.section(lmbenchTitle(results))
	var runs []lmbenchRun
	for _, r := range results {
		runs = append(runs, lmbenchRuns(r)...)
	}
	published := lmbenchPublished(refs)
	var marks footnotes
	for _, t := range lmbenchTables() {
		t.print(p, runs, published, &marks)
	}
	p.line("")
	if len(published) > 0 {
		r := published[0][0]
		p.item("", fmt.Sprintf("The lines below each rule are the published ones: %s, %s, %s; a K is 1000, a blank was not measured. "+
			"opcycle references has their source, and how far they may be compared.", r.Vendor, r.Product, r.Platform))
	}
	p.item("", "Mhz of a line measured here is the rate of the time stamp counter, not lmbench's loop. A blank cell was not asked for.")
	if slices.ContainsFunc(runs, lmbenchRun.unstable) {
		p.item(doubtful+" ", "unstable: the repetitions spread so far that the figure says little: the middle half of them over more "+
			"than a quarter of the median, or, of a minimum, no quarter of them near it. Their least and greatest stand below.")
	}
	for i, s := range marks {
		p.item(fmt.Sprintf("[%d] ", i+1), s)
	}
	lmbenchDetails(p, runs)
	lmbenchCurve(p, results)
	lmbenchRatios(p, runs)
}

// lmbenchTitle tells a reimplementation from the original, whose licence allows results only
// of unmodified programs, with their version.
func lmbenchTitle(results []*bench.SuiteResult) string {
	var versions []string
	for _, r := range results {
		if r.Imported != "" && !slices.Contains(versions, r.Imported) {
			versions = append(versions, r.Imported)
		}
	}
	ours := slices.ContainsFunc(results, func(r *bench.SuiteResult) bool { return r.Imported == "" })
	switch {
	case versions == nil:
		return "lmbench-style summary (reimplementation, not lmbench)"
	case ours:
		return "lmbench-style summary (reimplementation, not lmbench), and imported results of " + strings.Join(versions, ", ")
	}
	return "Imported results of " + strings.Join(versions, ", ")
}

// lmbenchRuns are the runs of one result in order.
func lmbenchRuns(r *bench.SuiteResult) []lmbenchRun {
	var out []lmbenchRun
	at := map[string]int{}
	for i := range r.Readings {
		g := &r.Readings[i]
		k, ok := at[g.Run]
		if !ok {
			k = len(out)
			at[g.Run] = k
			out = append(out, lmbenchRun{host: suiteWord(r, "host"), os: suiteWord(r, "os"), imported: r.Imported != ""})
			if host, _, ok := strings.Cut(g.Run, "/"); ok { // an imported run names its host
				out[k].host = host
			}
			switch {
			case r.Imported != "":
				out[k].host += ", " + r.Imported
			case r.Label != "":
				out[k].host += ", " + r.Label
			}
		}
		out[k].readings = append(out[k].readings, g)
	}
	return out
}

// suiteWord is a figure of a suite that is a text.
func suiteWord(r *bench.SuiteResult, series string) string {
	for _, g := range r.Figures {
		if g.Series == series && g.Unit == "text" {
			return g.Text
		}
	}
	return "n/a"
}

// doubtful marks a figure whose repetitions spread too far.
const doubtful = "?"

// unstable tells whether a figure of the run is.
func (r lmbenchRun) unstable() bool {
	return slices.ContainsFunc(r.readings, func(g *bench.Reading) bool { return g.Unstable != "" })
}

// headline is the reading in the table, nil: not measured.
func (r lmbenchRun) headline(table, name string) *bench.Reading {
	for _, g := range r.readings {
		if g.Headline && g.Table == table && g.Name == name {
			return g
		}
	}
	return nil
}
