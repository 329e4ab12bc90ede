package imports

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"opcycle/bench"
)

// table reads the rows of t under its line of dashes. wide: the columns are as they were
// printed; otherwise each run of spaces became one.
func (s *summary) table(lines []string, dashes int, t *summaryTable, columns []span, wide bool) (next int, err error) {
	if t.name != "" {
		s.order = append(s.order, t.name)
		if s.rows[t.name] > 0 {
			return 0, fmt.Errorf("line %d: a second table %q: keep one summary a file", dashes+1, t.title)
		}
	}
	s.seen = map[string]int{}
	left := 0
	i := dashes + 1
	for ; i < len(lines) && !ends(lines[i]); i++ {
		if t.name == "" {
			left++
			continue
		}
		row, err := cut(lines[i], spans(lines[dashes])[1].to, columns, t, wide)
		if err == nil {
			err = s.row(t, row)
		}
		if err != nil {
			return 0, fmt.Errorf("line %d: %q: %w", i+1, t.title, err)
		}
		s.rows[t.name]++
		if row.rule {
			s.warn("six values under eight heads of local latencies, in a copy that lost its columns: RPC/UDP and RPC/TCP are taken as the blank ones")
		}
	}
	if left > 0 {
		s.warn(fmt.Sprintf("the table %q was left out (%d rows): it has none of our figures", t.title, left))
	}
	return i, nil
}

// ends tells what stands behind the rows of a table.
func ends(line string) bool {
	text := strings.TrimSpace(line)
	if text == "" || text == "-" || text == "--" || strings.HasPrefix(text, "make[") {
		return true
	}
	for _, t := range summaryTables() {
		if strings.HasPrefix(text, t.title) {
			return true
		}
	}
	return false
}

// cells are a row: one text a column, empty where the cell is blank.
type cells struct {
	host, system string
	values       []string
	guess        string
	rule         bool // read by the rule of the two blank columns
}

// cut tells the cells of a row apart. edge is where the column of the systems ends.
func cut(line string, edge int, columns []span, t *summaryTable, wide bool) (cells, error) {
	if strings.HasPrefix(line, " ") {
		return cells{}, fmt.Errorf("a row begins with the name of its host; remove the line %q", strings.TrimSpace(line))
	}
	row := cells{values: make([]string, len(t.columns))}
	numbers := len(t.columns)
	if t.columns[numbers-1] == "guess" {
		numbers--
		line, row.guess = guessOf(line)
	}
	words := spans(line)
	row.host, words = line[words[0].from:words[0].to], words[1:]
	n := 0 // words of the system
	if wide {
		for n < len(words) && words[n].from < edge {
			n++
		}
	} else {
		n = systemWords(line, words)
	}
	if n > len(words) || n == 0 {
		return row, fmt.Errorf("no system is named in %q", line)
	}
	row.system = line[words[0].from:words[n-1].to]
	words = words[n:]
	if wide {
		return row, row.byColumns(line, words, columns[:numbers])
	}
	return row, row.byCount(line, words, numbers, t)
}

var guessWords = regexp.MustCompile(` (No L[12] cache\?|Bad mhz\?)\s*$`)

func guessOf(line string) (rest, guess string) {
	if at := guessWords.FindStringIndex(line); at != nil {
		return strings.TrimRight(line[:at[0]], " "), strings.TrimSpace(line[at[0]:])
	}
	return line, ""
}

// systemWords is how many words name the system where columns are lost: lmbench prints the
// kernel's name and its release, which begins with a digit.
func systemWords(line string, words []span) int {
	if len(words) > 1 && line[words[1].from] >= '0' && line[words[1].from] <= '9' && strings.Count(line[words[1].from:words[1].to], ".") > 0 {
		return 2
	}
	return 1
}

// byColumns gives each word to the column that it stands under.
func (c *cells) byColumns(line string, words, columns []span) error {
	for _, w := range words {
		text := line[w.from:w.to]
		at := -1
		for i, column := range columns {
			if w.from >= column.to || w.to <= column.from {
				continue
			}
			if at >= 0 {
				return fmt.Errorf("%q stands under two columns: the row was changed after it was printed", text)
			}
			at = i
		}
		switch {
		case at < 0:
			return fmt.Errorf("%q stands under no column: the row was changed after it was printed", text)
		case c.values[at] != "":
			return fmt.Errorf("%q and %q stand under one column: the row was changed after it was printed", c.values[at], text)
		}
		c.values[at] = text
	}
	return nil
}

// byCount is for a copy that lost its columns.
func (c *cells) byCount(line string, words []span, numbers int, t *summaryTable) error {
	at := make([]int, 0, numbers)
	for i := range numbers {
		if name := t.columns[i]; t.name == "local_latency" && len(words) == numbers-2 && (name == "rpc_udp" || name == "rpc_tcp") {
			c.rule = true
			continue
		}
		at = append(at, i)
	}
	if len(words) != len(at) {
		return fmt.Errorf("%d values under %d heads, and the copy lost its columns: which cells are blank cannot be told; import the summary as it was printed", len(words), numbers)
	}
	for i, w := range words {
		c.values[at[i]] = line[w.from:w.to]
	}
	return nil
}

// row makes readings of a row.
func (s *summary) row(t *summaryTable, row cells) error {
	who := row.host + "\x00" + row.system
	run := s.runOf(row, s.seen[who])
	s.seen[who]++
	for i, name := range t.columns {
		if name == "guess" {
			continue
		}
		g := bench.Reading{Table: t.name, Name: name, Run: run, Headline: true, Statistic: "median", Unit: t.unit, Placement: "not said"}
		if t.name == "memory_latency" {
			g.Statistic = "min"
		}
		if name == "clock" {
			g.Statistic, g.Unit = "as printed", "MHz"
		}
		if err := printed(&g, row.values[i]); err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
		s.out.Readings = append(s.out.Readings, g)
	}
	return nil
}

// runOf is the name of the run that a row is of, the k-th of its host and system in its
// table: "class-tex/2" is the second run of that host.
func (s *summary) runOf(row cells, k int) string {
	n := 0
	for i := range s.hosts {
		if s.hosts[i] != row.host {
			continue
		}
		n++
		if s.systems[i] == row.system {
			if k == 0 {
				return fmt.Sprintf("%s/%d", row.host, n)
			}
			k--
		}
	}
	s.hosts, s.systems = append(s.hosts, row.host), append(s.systems, row.system)
	return fmt.Sprintf("%s/%d", row.host, n+1)
}

var figureText = regexp.MustCompile(`^(-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)([KM]?)$`)

// printed reads one cell into g.
func printed(g *bench.Reading, text string) error {
	if text == "" {
		g.NA = "not measured: the cell is blank"
		return nil
	}
	if text == "-" {
		g.NA = "not measured: printed as -"
		return nil
	}
	m := figureText.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("%q is no number", text)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return fmt.Errorf("%q is no number", text)
	}
	scale := map[string]float64{"": 1, "K": 1e3, "M": 1e6}[m[2]]
	_, fraction, _ := strings.Cut(m[1], ".")
	last := scale // of the last digit that is printed
	for range len(fraction) {
		last /= 10
	}
	switch {
	case v < 0:
		g.NA = "not measured: printed as " + text
		return nil
	case v == 0:
		g.NA = fmt.Sprintf("printed as %s: less than %s %s", text, strconv.FormatFloat(last, 'g', 4, 64), g.Unit)
		return nil
	}
	v *= scale
	g.Value = &v
	g.Deviation = fmt.Sprintf("printed in steps of %s %s", strconv.FormatFloat(last, 'g', 4, 64), g.Unit)
	return nil
}
