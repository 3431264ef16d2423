package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// mark returns the number of a footnote, of which the present row is told.
func (tb *tableBuilder) mark(text string) int {
	text = oneLine(text)
	tb.tell(text)
	return tb.footnote(text)
}

// oneLine joins the lines of a text, such as a server's message.
func oneLine(text string) string {
	if !strings.ContainsAny(text, "\n\r\t") {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// tell adds to what is to be said of the present row.
func (tb *tableBuilder) tell(text string) {
	if !slices.Contains(tb.told, text) {
		tb.told = append(tb.told, text)
	}
}

// footnote returns the number of a footnote.
func (tb *tableBuilder) footnote(text string) int {
	if n, ok := tb.marks[text]; ok {
		return n
	}
	tb.out.Footnotes = append(tb.out.Footnotes, text)
	tb.marks[text] = len(tb.out.Footnotes)
	return len(tb.out.Footnotes)
}

// A noteRange is a footnote for several cells that differ only in its numbers.
type noteRange struct {
	between   []string // the text around the numbers
	low, high []string // each number, at its least and its most
}

// noteNumbers is the pattern of a number in a footnote.
const noteNumbers = `[0-9]+(\.[0-9]+)?`

// footnoteRange returns the number of a footnote whose numbers differ from cell to
// cell: one footnote gives the range of each.
func (tb *tableBuilder) footnoteRange(text string) int {
	key := tb.b.numbers.ReplaceAllString(text, "#") + "\x00range"
	numbers := tb.b.numbers.FindAllString(text, -1)
	n, ok := tb.marks[key]
	if !ok {
		n = tb.footnote(text)
		tb.marks[key] = n
		tb.ranges[n] = &noteRange{between: tb.b.numbers.Split(text, -1), low: numbers, high: slices.Clone(numbers)}
		return n
	}
	r := tb.ranges[n]
	r.widen(numbers)
	tb.out.Footnotes[n-1] = r.String()
	return n
}

// widen makes the ranges hold the numbers of one more text.
func (r *noteRange) widen(numbers []string) {
	for i, s := range numbers {
		x := ParseValue(s).Number
		if x < ParseValue(r.low[i]).Number {
			r.low[i] = s
		}
		if x > ParseValue(r.high[i]).Number {
			r.high[i] = s
		}
	}
}

// String writes each number, or its range where it differs: both ends with the same
// decimals, as tables write the numbers of a column.
func (r *noteRange) String() string {
	var b strings.Builder
	for i, text := range r.between {
		b.WriteString(text)
		if i == len(r.low) {
			break
		}
		low, high := r.low[i], r.high[i]
		if low == high {
			b.WriteString(low)
			continue
		}
		places := max(decimalsOf(low), decimalsOf(high))
		b.WriteString(withDecimals(low, places) + " to " + withDecimals(high, places))
	}
	return b.String()
}

// withDecimals adds zeros to a written number until it has so many decimals.
func withDecimals(number string, places int) string {
	have := decimalsOf(number)
	if have == 0 && places > 0 {
		number += "."
	}
	return number + strings.Repeat("0", places-have)
}

// withoutExponents writes the numbers in a text as tables write them, without
// exponents, so that those of several texts can be told as a range.
func withoutExponents(text string) string {
	if !strings.Contains(text, "e+") && !strings.Contains(text, "e-") {
		return text
	}
	exponential := regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?e[+-][0-9]{2,3}\b`) // 1.11695e+06
	return exponential.ReplaceAllStringFunc(text, func(number string) string {
		if v := ParseValue(number); v.Known {
			return shortest(v.Number)
		}
		return number
	})
}

// valueNotes returns the footnotes of a value: why it is missing, or else what
// makes it doubtful.
func (tb *tableBuilder) valueNotes(m measured) []int {
	if !m.Known && !m.text {
		if m.why == "" {
			return nil
		}
		return []int{tb.mark(m.why)}
	}
	doubts, n := tb.doubtsOf(m.from)
	return tb.doubtNotes(doubts, n, "")
}

func appendNew(notes []int, n int) []int {
	if slices.Contains(notes, n) {
		return notes
	}
	return append(notes, n)
}

// rowNotes returns the footnotes of a row as a whole: cells that it merges, and
// runs that are not among those it shows.
func (tb *tableBuilder) rowNotes(r *row) []int {
	var notes []int
	hidden := map[string]bool{}
	for _, s := range r.slots {
		for _, axis := range tb.hiddenAxes(s) {
			if !hidden[axis] {
				hidden[axis] = true
				notes = append(notes, tb.mark(fmt.Sprintf("cells that differ in %s (%s) are one row", axis, tb.b.axes.describe(axis, s.runs))))
			}
		}
	}
	for _, s := range r.slots {
		if lost, why := tb.lost(s); lost > 0 && lost < len(s.runs) {
			notes = append(notes, tb.mark(fmt.Sprintf("%d of %d runs not counted (%s)", lost, len(s.runs), why)))
		}
	}
	return notes
}

// lost counts the runs of a slot that cannot stand for it, and says why the first
// of them cannot.
func (tb *tableBuilder) lost(s *slot) (n int, why string) {
	if tb.deciding == nil {
		return 0, ""
	}
	for _, r := range s.runs {
		m := tb.valueOf(s, r, tb.deciding)
		if m.Known {
			continue
		}
		if n++; why == "" {
			why = m.why
		}
	}
	return n, why
}

// hiddenAxes returns the axes that the cells of a slot differ in, where they are
// not one shared measurement.
func (tb *tableBuilder) hiddenAxes(s *slot) []string {
	if len(s.runs) < 2 || tb.oneMeasurement(s) {
		return nil
	}
	return varying(tb.b.axes.names, s.runs)
}

// oneMeasurement reports whether the runs of each replicate in a slot share what
// the table shows.
func (tb *tableBuilder) oneMeasurement(s *slot) bool {
	seen := map[int]sharedResult{}
	for _, r := range s.runs {
		for _, c := range tb.columns {
			if c.token == "" {
				return false
			}
			result := r.results[iteration{c.phase, r.iterationOf(c.phase, c.iteration)}]
			if result == nil {
				continue
			}
			at := sharedResult{result.Origin, result.Phase, result.Iteration}
			if first, ok := seen[r.replicate]; at.origin == 0 || ok && first != at {
				return false
			}
			seen[r.replicate] = at
		}
	}
	return true
}

// caption names what all rows have in common: the axes that neither rows nor
// columns show.
func (tb *tableBuilder) caption() []string {
	var shown []*run
	for _, r := range tb.rows {
		shown = append(shown, r.runs...)
	}
	if len(shown) == 0 {
		return nil
	}
	vary := varying(tb.b.axes.names, shown)
	var parts []string
	for _, axis := range tb.b.axes.names {
		level, ok := shown[0].levels[axis]
		if !ok || slices.Contains(vary, axis) || slices.Contains(tb.rowAxes, axis) || slices.Contains(tb.across, axis) {
			continue
		}
		text := tb.b.axes.label(axis, level)
		if text == "" {
			text = level
		}
		parts = append(parts, tb.b.axes.labels[axis]+" = "+text)
	}
	return parts
}

// remarks are what is to be said of the table as a whole.
func (tb *tableBuilder) remarks() []string {
	var remarks []string
	remarks = append(remarks, tb.replicateRemark()...)
	remarks = append(remarks, tb.baselineRemark()...)
	remarks = append(remarks, tb.optionRemarks()...)
	remarks = append(remarks, tb.samenessRemarks()...)
	remarks = append(remarks, tb.factRemarks()...)
	for i, text := range remarks {
		remarks[i] = oneLine(text)
	}
	return remarks
}

// replicateRemark says how many runs a row stands for and which is shown.
func (tb *tableBuilder) replicateRemark() []string {
	count := tb.runCount()
	if count == "" {
		return nil
	}
	text := fmt.Sprintf("%s runs; each row is the run with the lower median of %s", count, tb.deciding.label)
	if tb.def.Aggregate == aggregateMedian {
		text = count + " runs; each number is the median of its column"
	}
	if tb.def.Interval {
		text += fmt.Sprintf("; lo..hi is the %d%% interval of the median, with fewer than %d runs minimum and maximum", int(confidence*100), intervalRuns)
	}
	return []string{text}
}

// runCount tells how many runs the slots have at least and at most, as "n = 2 to
// 3"; "" where none has two.
func (tb *tableBuilder) runCount() string {
	low, high := 0, 0
	for _, r := range tb.rows {
		for _, s := range r.slots {
			n := len(s.runs)
			if tb.deciding != nil {
				n = len(tb.sample(s, tb.deciding))
			}
			if n > 0 && (low == 0 || n < low) {
				low = n
			}
			high = max(high, n)
		}
	}
	switch {
	case high < 2:
		return ""
	case low != high:
		return fmt.Sprintf("n = %d to %d", low, high)
	}
	return fmt.Sprintf("n = %d", high)
}

// baselineRemark says what ratios are to, and that too few runs were there to
// tell a difference from noise.
func (tb *tableBuilder) baselineRemark() []string {
	compares := slices.ContainsFunc(tb.columns, (*column).comparison)
	if !compares || len(tb.def.Baseline) == 0 {
		return nil
	}
	text := "compared with " + tb.baselineLevels()
	few := false
	for _, r := range tb.rows {
		for _, s := range r.slots {
			for _, c := range tb.columns {
				base := tb.baseline(s)
				if !c.relative || base == nil || base == s {
					continue
				}
				few = few || !testable(tb.sample(s, tb.plain(c)), tb.sample(base, tb.plain(c)))
			}
		}
	}
	if few {
		text += fmt.Sprintf("; too few runs to test (%d a side are needed)", testRuns)
	}
	return []string{text}
}

// shownRuns returns the runs that stand for the slots of the table.
func (tb *tableBuilder) shownRuns() []*run {
	var runs []*run
	for _, r := range tb.rows {
		for _, s := range r.slots {
			if shown := tb.shown(s); shown != nil && shown.attempt != nil {
				runs = append(runs, shown)
			}
		}
	}
	return runs
}

// unverifiable is the outcome of an option that nothing tells of.
const unverifiable = "unverifiable"

// optionRemarks name the options that are not in force as they were asked for,
// and those that cannot be known to be.
func (tb *tableBuilder) optionRemarks() []string {
	count := map[string]int{}
	unknown := map[string]bool{}
	for _, r := range tb.shownRuns() {
		said := map[string]bool{} // once a run, however many phases it started a server for
		for _, o := range r.attempt.Options {
			if o.Outcome == unverifiable {
				unknown[o.Name] = true
				continue
			}
			text := fmt.Sprintf("option %s: asked %s, in force %s (%s)", o.Name, o.Asked, o.InForce, o.Outcome)
			if !said[text] {
				said[text] = true
				count[text]++
			}
		}
	}
	var remarks []string
	for _, text := range sortedKeys(count) {
		remarks = append(remarks, fmt.Sprintf("%s, %s", text, rowCount(count[text])))
	}
	if len(unknown) > 0 {
		remarks = append(remarks, "options whose value in force the server does not tell: "+strings.Join(sortedKeys(unknown), ", "))
	}
	return remarks
}

func rowCount(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// maxFactValues is how many values of a fact a remark lists.
const maxFactValues = 3

// factRemarks name the facts in which the rows differ although no axis that the
// table shows tells so.
func (tb *tableBuilder) factRemarks() []string {
	runs := tb.shownRuns()
	var remarks []string
	for _, name := range tb.b.differing {
		values := map[string]int{}
		for _, r := range runs {
			if v, ok := r.attempt.Facts[name]; ok {
				values[v]++
			}
		}
		if len(values) < 2 || tb.toldByAxis(name, runs) || seedOfReplicate(name, runs) {
			continue
		}
		if len(values) > maxFactValues {
			remarks = append(remarks, fmt.Sprintf("the rows differ in %s: %d values", name, len(values)))
			continue
		}
		var parts []string
		for _, v := range sortedKeys(values) {
			parts = append(parts, fmt.Sprintf("%s (%s)", v, rowCount(values[v])))
		}
		remarks = append(remarks, fmt.Sprintf("the rows differ in %s: %s", name, strings.Join(parts, ", ")))
	}
	return remarks
}

// toldByAxis reports whether some axis that the table shows determines a fact.
func (tb *tableBuilder) toldByAxis(fact string, runs []*run) bool {
	return slices.ContainsFunc(slices.Concat(tb.rowAxes, tb.across), func(axis string) bool {
		first := map[string]string{}
		for _, r := range runs {
			level, v := r.levels[axis], r.attempt.Facts[fact]
			if old, ok := first[level]; ok && old != v {
				return false
			}
			first[level] = v
		}
		return true
	})
}

// seedOfReplicate reports whether a fact is a seed that differs because each
// replicate has its own, as it should.
func seedOfReplicate(fact string, runs []*run) bool {
	if fact != "seed" && !strings.HasSuffix(fact, ".seed") {
		return false
	}
	seeds := map[int]string{}
	for _, r := range runs {
		v, ok := r.attempt.Facts[fact]
		if old, seen := seeds[r.replicate]; ok && seen && old != v {
			return false
		}
		if ok {
			seeds[r.replicate] = v
		}
	}
	return true
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// legend explains the headings and levels that the table shows. Where its columns
// are of several phases, each entry says whose it is.
func (tb *tableBuilder) legend() []LegendEntry {
	var entries []LegendEntry
	phases := map[LegendEntry][]string{}
	all := map[string]bool{}
	for _, c := range tb.columns {
		for _, shown := range tb.tokensOf(c) {
			e := LegendEntry{Term: tb.term(shown), Text: tb.meaning(shown)}
			if e.Text != "" && !slices.Contains(entries, e) {
				entries = append(entries, e)
			}
			if shown.computed() || shown.phase == "" {
				continue
			}
			all[shown.phase] = true
			if !slices.Contains(phases[e], shown.phase) {
				phases[e] = append(phases[e], shown.phase)
			}
		}
	}
	for i, e := range entries {
		if of := phases[e]; len(all) > 1 && len(of) > 0 {
			entries[i].Text += "; phase " + strings.Join(of, ", ")
		}
	}
	return append(entries, tb.levelLegend()...)
}

// meaning says what a column shows; "" where nothing is known of it.
func (tb *tableBuilder) meaning(c *column) string {
	text := ""
	switch {
	case c.computed():
		text = tb.b.sourceOf(c.value)
	case c.relative && tb.explains(c.token):
		text = c.token
	case c.spec != nil:
		text = tb.b.legendOf(c)
		if divisor := cmp.Or(c.divisor, c.spec.Divisor); divisor > 0 {
			text += fmt.Sprintf(" (%s)", divisorText(c.spec.Unit, divisor))
		}
	}
	if c.relative && text != "" {
		if text != c.token {
			text += ","
		}
		text += " relative to " + tb.baselineLevels()
	}
	return text
}

// legendOf is what the library says of a column. The step of the insert benchmark
// that makes the indexes counts the rows that it indexes as inserted ones, as the
// original's reports do.
func (b *builder) legendOf(c *column) string {
	if !b.indexing(c.phase) {
		return c.spec.Legend
	}
	return strings.NewReplacer("rows inserted", "rows indexed", "row inserted", "row indexed", "inserts per second", "rows indexed per second").Replace(c.spec.Legend)
}

// indexing reports whether a phase makes the indexes of the insert benchmark.
func (b *builder) indexing(phase string) bool {
	for _, c := range b.in.Cells {
		for _, p := range c.Phases {
			if p.Name != phase {
				continue
			}
			step, ok := p.Workload.Args["step"]
			return ok && p.Workload.Type == "insert_benchmark" && step.RawEquals(cty.StringVal("l.x"))
		}
	}
	return false
}

// explains reports whether the legend says what a token is.
func (tb *tableBuilder) explains(token string) bool {
	return slices.ContainsFunc(tb.columns, func(c *column) bool { return c.token == token && !c.relative })
}

// sourceOf returns an expression as it is written, on one line.
func (b *builder) sourceOf(expr hcl.Expression) string {
	at := expr.Range()
	file := b.in.Experiment.Files[at.Filename]
	if file == nil || !at.CanSliceBytes(file.Bytes) {
		return ""
	}
	return strings.Join(strings.Fields(string(at.SliceBytes(file.Bytes))), " ")
}

// baselineLevels names the baseline's levels.
func (tb *tableBuilder) baselineLevels() string {
	var names []string
	for _, axis := range tb.b.axes.names {
		if level, ok := tb.def.Baseline[axis]; ok {
			names = append(names, axis+" = "+level)
		}
	}
	return strings.Join(names, ", ")
}

// divisorText says what the larger unit of a column is made of.
func divisorText(unit string, divisor int) string {
	if strings.HasPrefix(unit, "GB") {
		return fmt.Sprintf("%d MB of %d kB to the GB", divisor, divisor)
	}
	return fmt.Sprintf("%d kB to the MB", divisor)
}

// tokensOf returns the columns of the library that a column shows.
func (tb *tableBuilder) tokensOf(c *column) []*column {
	if c.template == nil {
		return []*column{c}
	}
	var parts []*column
	for _, name := range tb.placeholders(c) {
		parts = append(parts, tb.named(name))
	}
	return parts
}

// term is what a reader finds over the column's numbers, else its token: that of
// columns which show it at several places, as qps@query.1 and qps@query.2.
func (tb *tableBuilder) term(c *column) string {
	if c.def == nil {
		return c.token
	}
	places := 0
	for _, other := range tb.columns {
		if other.token == c.token && !other.relative && len(other.def.Heading) == 0 {
			places++
		}
	}
	if strings.HasPrefix(c.label, c.token+"@") && places > 1 {
		return c.token
	}
	heading := c.label
	if n := len(c.def.Heading); n > 0 {
		heading = c.def.Heading[n-1]
		if c.relative || c.computed() { // the last line is often what it is computed from
			heading = strings.Join(c.def.Heading, " ")
		}
	}
	return cmp.Or(heading, c.token)
}

func (tb *tableBuilder) levelLegend() []LegendEntry {
	var entries []LegendEntry
	for _, axis := range slices.Concat(tb.rowAxes, tb.across) {
		for _, level := range tb.levelsShown(axis) {
			if about := tb.b.axes.about[axisLevel{axis, level}]; about != "" {
				entries = append(entries, LegendEntry{Term: level, Text: about})
			}
		}
	}
	return entries
}

// levelsShown returns the levels of an axis that the rows have, in their order.
func (tb *tableBuilder) levelsShown(axis string) []string {
	var levels []string
	seen := map[string]bool{}
	for _, r := range tb.rows {
		for _, run := range r.runs {
			if level, ok := run.levels[axis]; ok && !seen[level] {
				seen[level] = true
				levels = append(levels, level)
			}
		}
	}
	sort.SliceStable(levels, func(i, j int) bool {
		return tb.b.axes.pos[axisLevel{axis, levels[i]}] < tb.b.axes.pos[axisLevel{axis, levels[j]}]
	})
	return levels
}
