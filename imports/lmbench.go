package imports

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"opcycle/bench"
)

// summaryTable is a table of lmbench's summary, in one of the layouts that scripts/getsummary
// of lmbench 1.9, 2 and 3 print (https://github.com/intel/lmbench).
type summaryTable struct {
	title   string // how its first line begins
	heads   string // the words of its line of heads, "Host OS …"
	name    string // of the table in our results; empty: its figures are none of ours
	unit    string
	columns []string // names of the figures; "clock" and "guess" have a meaning of their own
}

func summaryTables() []summaryTable {
	const (
		processes = "Processor, Processes - times in microseconds"
		switching = "Context switching - times in microseconds"
		latencies = "*Local* Communication latencies in microseconds"
		files     = "File & VM system latencies in microseconds"
		bandwidth = "*Local* Communication bandwidths in MB/s"
		memory    = "Memory latencies in nanoseconds"
	)
	process := strings.Fields("clock null_call null_io stat open_close select signal_install signal_handler fork exec sh")
	file := strings.Fields("create_0k delete_0k create_10k delete_10k mmap protection_fault page_fault")
	return []summaryTable{
		{processes, "Host OS Mhz null null open selct sig sig fork exec sh", "processor", "us", process},
		{processes, "Host OS Mhz null null open slct sig sig fork exec sh", "processor", "us", process},
		{switching, "Host OS 2p/0K 2p/16K 2p/64K 8p/16K 8p/64K 16p/16K 16p/64K", "context_switching", "us",
			strings.Fields("context_switch_2p_0k context_switch_2p_16k context_switch_2p_64k context_switch_8p_16k context_switch_8p_64k context_switch_16p_16k context_switch_16p_64k")},
		{latencies, "Host OS 2p/0K Pipe AF UDP RPC/ TCP RPC/ TCP", "local_latency", "us",
			strings.Fields("context_switch_2p_0k pipe af_unix udp rpc_udp tcp rpc_tcp tcp_connect")},
		{files, "Host OS 0K File 10K File Mmap Prot Page", "file_vm", "us", file},
		{files, "Host OS 0K File 10K File Mmap Prot Page 100fd", "file_vm", "us", append(slices.Clone(file), "select_100_files")},
		{bandwidth, "Host OS Pipe AF TCP File Mmap Bcopy Bcopy Mem Mem", "local_bandwidth", "MB/s",
			strings.Fields("pipe af_unix tcp file_reread mmap_reread bcopy_libc bcopy_hand memory_read memory_write")},
		{memory, "Host OS Mhz L1 $ L2 $ Main mem Guesses", "memory_latency", "ns", strings.Fields("clock l1 l2 main guess")},
		{memory, "Host OS Mhz L1 $ L2 $ Main mem Rand mem Guesses", "memory_latency", "ns", strings.Fields("clock l1 l2 main main_random guess")},
		{title: "Basic system parameters"}, {title: "Basic integer operations"}, {title: "Basic int64 operations"}, {title: "Basic uint64 operations"},
		{title: "Basic float operations"}, {title: "Basic double operations"}, {title: "*Remote* Communication latencies"},
	}
}

// summary is what one summary says so far.
type summary struct {
	version  string
	out      bench.SuiteResult
	hosts    []string       // one a run, in order
	systems  []string       // its operating system
	rows     map[string]int // rows by table
	order    []string       // tables in order
	seen     map[string]int // runs of a host and system in the table that is read
	warnings map[string]bool
}

var (
	versionLine = regexp.MustCompile(`L M B E N C H +(\d) \. (\d) +S U M M A R Y`)
	groupsLine  = regexp.MustCompile(`^-{3,}( +-+){2,}\s*$`)
)

// Lmbench reads the summary that lmbench 1.9, 2 or 3 prints ("make summary") as a result of
// the suite lmbench, a run a row. Text before and behind the tables, such as the head of a
// mail, is passed over; a line of a table that it can't read is an error with its number.
//
// A figure belongs to the column above which it stands: a blank cell is n/a, and shifts
// nothing. In a copy that lost its columns, as the seed, a row is read only when it has as
// many values as there are heads, with one exception: six values in the table of local
// latencies are those without the two of RPC, as in the same author's next posting
// (linux-mm, 2000-10-02, Message-ID 39D87F3A.7D21E18@mountain.net), with a warning.
//
// "0.02K" is 20. A printed 0 or 0.0K is less than its last digit, and n/a; -1 and "-" were
// not measured. What the number was rounded to is all that is known of its precision.
func Lmbench(name string, data []byte) (bench.SuiteResult, error) {
	s := summary{rows: map[string]int{}, warnings: map[string]bool{}}
	lines := strings.Split(string(data), "\n")
	for i := range lines {
		lines[i] = tabs(strings.TrimRight(lines[i], "\r"))
	}
	for i := 0; i < len(lines); {
		next, err := s.read(lines, i)
		if err != nil {
			return bench.SuiteResult{}, fmt.Errorf("%s: %w", name, err)
		}
		i = next
	}
	if len(s.hosts) == 0 {
		return bench.SuiteResult{}, fmt.Errorf("%s: %w", name, errors.New("no table of an lmbench summary is in it; keep what \"make summary\" prints, with its line of dashes under the heads"))
	}
	return s.result(), nil
}

// tabs replaces tabs by the spaces up to the next eighth column.
func tabs(line string) string {
	for {
		before, after, ok := strings.Cut(line, "\t")
		if !ok {
			return line
		}
		line = before + strings.Repeat(" ", 8-len(before)%8) + after
	}
}

// read reads what begins in line i, counted from 0, and returns the line behind it.
func (s *summary) read(lines []string, i int) (next int, err error) {
	if m := versionLine.FindStringSubmatch(strings.Join(strings.Fields(lines[i]), " ")); m != nil {
		s.version = m[1] + "." + m[2]
		return i + 1, nil
	}
	if !strings.HasPrefix(lines[i], "Host ") || !slices.Contains(strings.Fields(lines[i]), "OS") {
		return i + 1, nil
	}
	title, ok := titleAbove(lines, i)
	if !ok {
		return 0, fmt.Errorf("line %d: the heads of a table, but no title of lmbench's is in the four lines above", i+1)
	}
	dashes := i + 1
	for dashes < len(lines) && dashes <= i+3 && !groupsLine.MatchString(lines[dashes]) {
		dashes++
	}
	if dashes == len(lines) || !groupsLine.MatchString(lines[dashes]) {
		return 0, fmt.Errorf("line %d: no line of dashes in the three lines below: the columns are not known", i+1)
	}
	heads := strings.Join(strings.Fields(lines[i]), " ")
	t := layout(title, heads)
	columns := spans(lines[dashes])[2:]
	switch {
	case t == nil:
		return 0, fmt.Errorf("line %d: the heads %q of %q are not those of lmbench 1.9, 2 or 3", i+1, heads, title)
	case t.name != "" && len(columns) != len(t.columns):
		return 0, fmt.Errorf("line %d: %d columns of dashes under %d heads: the line was broken or cut off", dashes+1, len(columns), len(t.columns))
	}
	return s.table(lines, dashes, t, columns, strings.Contains(lines[i], "Host  "))
}

// titleAbove finds the title of the table whose heads are line i.
func titleAbove(lines []string, i int) (string, bool) {
	for j := i - 1; j >= max(0, i-4); j-- {
		for _, t := range summaryTables() {
			if strings.HasPrefix(strings.TrimSpace(lines[j]), t.title) {
				return t.title, true
			}
		}
	}
	return "", false
}

// layout is the table of that title and those heads; nil: there is none.
func layout(title, heads string) *summaryTable {
	for _, t := range summaryTables() {
		if t.title == title && (t.name == "" || t.heads == heads) {
			return &t
		}
	}
	return nil
}

// span is where a word of a line begins, and what is behind it.
type span struct{ from, to int }

func spans(line string) []span {
	var out []span
	for i := 0; i < len(line); i++ {
		if line[i] == ' ' {
			continue
		}
		from := i
		for i < len(line) && line[i] != ' ' {
			i++
		}
		out = append(out, span{from, i})
	}
	return out
}

// result is the whole of it.
func (s *summary) result() bench.SuiteResult {
	r := s.out
	program := "lmbench"
	if s.version != "" {
		program += " " + s.version
	}
	r.Suite, r.Role, r.Complete = "lmbench", bench.RoleMeasured, true
	r.Imported = program
	words := func(object string, all []string) bench.Figure {
		return bench.Figure{Suite: "lmbench", Object: "host", Series: object, Statistic: "text", Unit: "text", Text: strings.Join(distinct(all), ", ")}
	}
	r.Figures = []bench.Figure{words("host", s.hosts), words("os", s.systems)}
	for i := range r.Readings {
		r.Readings[i].Mechanism = program
	}
	for _, t := range s.order {
		if n := s.rows[t]; n != len(s.hosts) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the table %s has %d rows, another %d: lmbench leaves out rows without a figure, so which run of a host a row is of is not sure", t, n, len(s.hosts)))
		}
	}
	return r
}

func distinct(all []string) []string {
	var out []string
	for _, s := range all {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// warn keeps a warning, each text once.
func (s *summary) warn(text string) {
	if !s.warnings[text] {
		s.warnings[text] = true
		s.out.Warnings = append(s.out.Warnings, text)
	}
}
