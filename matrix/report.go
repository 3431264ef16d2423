package matrix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

func tableSchema() *hcl.BodySchema {
	return with(attrs("title", "phase", "iteration", "columns", "rows", "across", "transpose", "group_by", "sort", "only", "baseline",
		"missing", "source", "aggregate", "interval", "geomean", "legend"),
		block("column", "label"), block("group"), block("label"))
}

func columnSchema() *hcl.BodySchema {
	return attrs("of", "phase", "iteration", "value", "cell", "format", "heading", "relative", "divisor")
}

func groupSchema() *hcl.BodySchema { return attrs("key", "heading", "order", "style") }

func labelSchema() *hcl.BodySchema { return attrs("heading", "text", "side") }

func chartSchema() *hcl.BodySchema {
	return attrs("kind", "phase", "iteration", "x", "y", "series", "facet", "only", "log", "baseline", "title", "width")
}

func textSchema() *hcl.BodySchema { return attrs("body") }

func importSchema() *hcl.BodySchema { return with(attrs("file"), block("check")) }

func importCheckSchema() *hcl.BodySchema { return attrs("column", "formula", "phase") }

// sourceOwn stands for the experiment's own runs as a table's source, sourceAll
// for these and every import.
const (
	sourceOwn = "own"
	sourceAll = "all"
)

// decodeReport decodes the blocks of the report, which keep their source order.
func (d *decoder) decodeReport(blocks hcl.Blocks) {
	seen := map[string]hcl.Range{}
	for _, b := range blocks {
		var made ReportBlock
		switch b.Type {
		case "table", "chart", "text", "import":
		default:
			continue
		}
		name := b.Labels[0]
		if prior, dup := seen[b.Type+" "+name]; dup {
			d.faults.add(duplicate(b.Type, name, b.DefRange, prior))
			continue
		}
		seen[b.Type+" "+name] = b.DefRange
		switch b.Type {
		case "table":
			made = d.decodeTable(b)
		case "chart":
			made = d.decodeChart(b)
		case "text":
			made = d.decodeText(b)
		case "import":
			made = d.decodeImport(b)
		}
		d.report = append(d.report, made)
	}
	d.checkSources()
}

func (d *decoder) decodeTable(b *hcl.Block) *Table {
	since := d.faultsSince()
	content := d.content(b.Body, tableSchema())
	at := content.Attributes
	t := &Table{
		Name: b.Labels[0], Range: b.DefRange,
		Title:     d.reportExpr(at["title"]),
		Phase:     d.phaseName(at["phase"]),
		Iteration: read(d, at["iteration"], 0, atLeast(1)),
		Rows:      d.axisNames(at["rows"]),
		Across:    d.axisNames(at["across"]),
		Transpose: read(d, at["transpose"], false, boolValue),
		Only:      d.reportExpr(at["only"]),
		Baseline:  d.baseline(at["baseline"]),
		Missing:   read(d, at["missing"], "", textValue),
		Source:    read(d, at["source"], sourceOwn, textValue),
		Aggregate: read(d, at["aggregate"], "run", oneOf("run", "median")),
		Interval:  read(d, at["interval"], false, boolValue),
		Geomean:   read(d, at["geomean"], false, boolValue),
		Legend:    read(d, at["legend"], true, boolValue),
	}
	if t.Source == sourceOwn || t.Source == sourceAll { // numbers measured elsewhere have phases of their own
		d.checkPhaseName(t.Phase, at["phase"])
	}
	before := d.losses
	tokens := read(d, at["columns"], nil, textsValue)
	known := d.losses == before && !d.lossy[content] // whether these and the blocks are all columns
	for _, token := range tokens {
		t.Columns = append(t.Columns, d.columnOf(token, at["columns"].Expr.Range()))
	}
	for _, cb := range content.Blocks.OfType("column") {
		t.Columns = append(t.Columns, d.decodeColumn(cb))
	}
	d.checkColumns(t, at["columns"], known)
	t.Group = d.decodeGroup(at["group_by"], content.Blocks.OfType("group"))
	t.Label = d.decodeLabel(content.Blocks.OfType("label"))
	for _, key := range read(d, at["sort"], nil, textsValue) {
		name, descending := strings.CutPrefix(key, "-")
		if known {
			t.Sort = append(t.Sort, d.sortKey(t, name, descending, at["sort"].Expr.Range()))
		}
	}
	t.Faulty = since()
	return t
}

// faultsSince returns a function that reports whether anything was at fault since.
func (d *decoder) faultsSince() func() bool {
	losses, faults := d.losses, d.faults.count()
	return func() bool { return d.losses > losses || d.faults.count() > faults }
}

// reportExpr checks an expression of the report's names. One that is at fault is
// left out.
func (d *decoder) reportExpr(attr *hcl.Attribute) hcl.Expression {
	if attr == nil || !d.checkReport(attr.Expr) {
		return nil
	}
	return attr.Expr
}

// valueExpr does so for one that cannot be left out: that at fault has no value.
func (d *decoder) valueExpr(attr *hcl.Attribute) hcl.Expression {
	if attr == nil {
		return nil
	}
	if !d.checkReport(attr.Expr) {
		return hcl.StaticExpr(cty.DynamicVal, attr.Expr.Range())
	}
	return attr.Expr
}

// unknownPhaseName stands for the name of a phase that cannot be read.
const unknownPhaseName = "?"

// phaseName reads the name of a phase, "" where there is none.
func (d *decoder) phaseName(attr *hcl.Attribute) string {
	before := d.losses
	name := read(d, attr, "", textValue)
	if d.losses > before {
		return unknownPhaseName
	}
	return name
}

// columnOf reads a token of a columns list: "ips.av", or with the phase and the
// iteration that it is taken from, "qps@query.12".
func (d *decoder) columnOf(token string, rng hcl.Range) Column {
	c := Column{Label: token, Of: token, Range: rng}
	i := strings.LastIndexByte(token, '@')
	if i <= 0 {
		return c
	}
	c.Of = token[:i]
	c.Phase = token[i+1:]
	if d.hasPhase(c.Phase) {
		return c
	}
	if j := strings.LastIndexByte(c.Phase, '.'); j > 0 && d.hasPhase(c.Phase[:j]) {
		if n, err := strconv.Atoi(c.Phase[j+1:]); err == nil && n > 0 {
			c.Phase, c.Iteration = c.Phase[:j], n
			return c
		}
	}
	d.unknownPhase(c.Phase, rng)
	return c
}

func (d *decoder) hasPhase(name string) bool {
	for _, p := range d.phases {
		if p.name == name {
			return true
		}
	}
	return false
}

func (d *decoder) unknownPhase(name string, rng hcl.Range) {
	if name == unknownPhaseName || d.mayBe("phase", name) {
		d.losses++
		return
	}
	var names []string
	for _, p := range d.phases {
		names = append(names, p.name)
	}
	d.faults.add(fault(rng, "Unknown phase", "There is no phase %q%s", name, alternatives(name, "", names)))
}

func (d *decoder) checkPhaseName(name string, attr *hcl.Attribute) {
	if name != "" && attr != nil && !d.hasPhase(name) {
		d.unknownPhase(name, attr.Expr.Range())
	}
}

func (d *decoder) decodeColumn(b *hcl.Block) Column {
	content := d.content(b.Body, columnSchema())
	at := content.Attributes
	c := Column{
		Label: b.Labels[0], Range: b.DefRange,
		Of:        read(d, at["of"], "", textValue),
		Phase:     d.phaseName(at["phase"]),
		Iteration: read(d, at["iteration"], 0, atLeast(1)),
		Value:     d.valueExpr(at["value"]),
		Cell:      d.valueExpr(at["cell"]), // it may name the table's columns as {x}
		Format:    read(d, at["format"], "", formatValue),
		Heading:   read(d, at["heading"], nil, headingValue),
		Relative:  read(d, at["relative"], false, boolValue),
		Divisor:   read(d, at["divisor"], 0, divisorValue),
	}
	d.checkPhaseName(c.Phase, at["phase"])
	if c.Of != "" && c.Value != nil {
		d.faults.add(fault(b.DefRange, "Two ways to say what is shown", "A column shows either the token of `of` or the `value` of an expression; %q has both.", c.Label))
	}
	if c.Of == "" && c.Value == nil && c.Cell == nil {
		c.Of = c.Label
	}
	return c
}

func formatValue(v cty.Value) (string, string) {
	text, wrong := textValue(v)
	if wrong != "" {
		return "", wrong
	}
	if !goodFormat(text) {
		return "", fmt.Sprintf(`must be a number format such as "%%.1f" or "%%d", not %q`, text)
	}
	return text, ""
}

// goodFormat reports whether a format prints one number.
func goodFormat(text string) bool {
	_, rest, ok := strings.Cut(strings.ReplaceAll(text, "%%", ""), "%")
	if !ok || strings.Contains(rest, "%") {
		return false
	}
	rest = strings.TrimLeft(rest, "+-# 0123456789.")
	return rest != "" && strings.ContainsRune("dfegs", rune(rest[0]))
}

// headingValue reads the one or two lines of a heading.
func headingValue(v cty.Value) ([]string, string) {
	if v.Type() == cty.String {
		return []string{v.AsString()}, ""
	}
	lines, wrong := textsValue(v)
	if wrong != "" || len(lines) == 0 || len(lines) > 2 {
		return nil, `must be a text or a list of one or two, such as ["2h", "qps"]`
	}
	return lines, ""
}

func divisorValue(v cty.Value) (int, string) {
	n, wrong := wholeValue(v)
	if wrong == "" && n != 1000 && n != 1024 {
		wrong = "must be 1000 or 1024"
	}
	return int(n), wrong
}

// checkColumns reports a table without columns, and columns of one label, of which
// it leaves the first.
func (d *decoder) checkColumns(t *Table, attr *hcl.Attribute, known bool) {
	if len(t.Columns) == 0 && known {
		d.faults.add(fault(t.Range, "Table without columns", "The table %q shows nothing. Give it `columns = [...]` or column blocks.", t.Name))
	}
	seen := map[string]hcl.Range{}
	t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool {
		if prior, dup := seen[c.Label]; dup {
			if attr != nil && prior == c.Range {
				d.faults.add(fault(c.Range, "Duplicate column", "The column %q is listed twice. Columns of one label cannot be told apart; use column blocks with labels of their own.", c.Label))
			} else {
				d.faults.add(duplicate("column", c.Label, c.Range, prior))
			}
			return true
		}
		seen[c.Label] = c.Range
		return false
	})
}

// axisNames reads a list of axes.
func (d *decoder) axisNames(attr *hcl.Attribute) []string {
	names := read(d, attr, nil, textsValue)
	for _, name := range names {
		if !d.hasAxis(name) {
			all, _ := d.known(rootAxis)
			d.faults.add(fault(attr.Expr.Range(), "Unknown axis", "There is no axis %q%s", name, alternatives(name, "", all)))
		}
	}
	return names
}

// hasAxis reports whether there is an axis, or may be.
func (d *decoder) hasAxis(name string) bool {
	_, ok := d.axisIndex[name]
	return ok || d.mayBe("axis", name)
}

// baseline reads the row that others are compared with: axis = level.
func (d *decoder) baseline(attr *hcl.Attribute) map[string]string {
	row := read(d, attr, nil, textMapValue)
	all, _ := d.known(rootAxis)
	for _, axis := range keys(row) {
		i, ok := d.axisIndex[axis]
		if !ok && d.mayBe("axis", axis) {
			d.losses++
			continue
		}
		if !ok {
			d.faults.add(fault(attr.Expr.Range(), "Unknown axis", "baseline names the axis %q, which there is not%s", axis, alternatives(axis, "", all)))
			continue
		}
		if _, ok := d.axes[i].index[row[axis]]; !ok && !d.axes[i].open {
			d.faults.add(fault(attr.Expr.Range(), "Unknown level", "The axis %q has no level %q%s", axis, row[axis], alternatives(row[axis], "", d.axes[i].names())))
		}
	}
	return row
}

func (d *decoder) decodeGroup(by *hcl.Attribute, blocks hcl.Blocks) *Group {
	var g *Group
	if by != nil {
		g = &Group{Axes: d.axisNames(by), Style: "line", Range: by.Range}
	}
	for _, b := range blocks {
		if g != nil {
			d.faults.add(fault(b.DefRange, "Two ways to group", "A table has either group_by or one group block."))
			continue
		}
		content := d.content(b.Body, groupSchema())
		at := content.Attributes
		g = &Group{
			Key: d.reportExpr(d.required(content, "key", b.DefRange, "group block")), Heading: d.reportExpr(at["heading"]),
			Order: read(d, at["order"], nil, textsValue),
			Style: read(d, at["style"], "line", oneOf("line", "heading", "rule")),
			Range: b.DefRange,
		}
	}
	return g
}

func (d *decoder) decodeLabel(blocks hcl.Blocks) Label {
	l := Label{Side: "right"}
	for i, b := range blocks {
		if i > 0 {
			d.faults.add(fault(b.DefRange, "Second label block", "A table has one label block. Join the two."))
			continue
		}
		content := d.content(b.Body, labelSchema())
		at := content.Attributes
		l.Heading = read(d, at["heading"], "", textValue)
		l.HasHead = at["heading"] != nil
		l.Text = d.reportExpr(at["text"])
		l.Side = read(d, at["side"], "right", oneOf("right", "left"))
		l.Range = b.DefRange
	}
	return l
}

// sortKey checks that a sort key names a column or an axis.
func (d *decoder) sortKey(t *Table, name string, descending bool, rng hcl.Range) SortKey {
	known, _ := d.known(rootAxis)
	for _, c := range t.Columns {
		known = append(known, c.Label)
	}
	found := false
	for _, k := range known {
		found = found || k == name
	}
	if !found && !d.mayBe("axis", name) {
		d.faults.add(fault(rng, "Unknown sort key", "%q is neither a column of this table nor an axis%s", name, alternatives(name, "", known)))
	}
	return SortKey{By: name, Descending: descending}
}

func (d *decoder) decodeChart(b *hcl.Block) *Chart {
	since := d.faultsSince()
	content := d.content(b.Body, chartSchema())
	at := content.Attributes
	for _, name := range []string{"kind", "phase", "x", "y"} {
		d.required(content, name, b.DefRange, "chart")
	}
	c := &Chart{
		Name: b.Labels[0], Range: b.DefRange,
		Kind:      read(d, at["kind"], "bar", oneOf("bar", "line", "box")),
		Title:     read(d, at["title"], "", textValue),
		Phase:     d.phaseName(at["phase"]),
		Iteration: read(d, at["iteration"], 0, atLeast(1)),
		X:         read(d, at["x"], "", textValue),
		Y:         read(d, at["y"], "", textValue),
		Series:    d.axisNames(at["series"]),
		Facet:     d.axisNames(at["facet"]),
		Only:      d.reportExpr(at["only"]),
		Log:       read(d, at["log"], false, boolValue),
		Baseline:  d.baseline(at["baseline"]),
		Width:     read(d, at["width"], 0, atLeast(100)),
	}
	d.checkPhaseName(c.Phase, at["phase"])
	if c.X != "" && c.X != "time" && c.X != "iteration" && !d.hasAxis(c.X) {
		all, _ := d.known(rootAxis)
		d.faults.add(fault(at["x"].Expr.Range(), "Unknown axis", `x is an axis, "time" or "iteration"; there is no axis %q%s`, c.X, alternatives(c.X, "", all)))
	}
	c.Faulty = since()
	return c
}

func (d *decoder) decodeText(b *hcl.Block) *Text {
	content := d.content(b.Body, textSchema())
	t := &Text{Name: b.Labels[0], Range: b.DefRange, Body: d.valueExpr(d.required(content, "body", b.DefRange, "text block"))}
	if t.Body == nil {
		t.Body = hcl.StaticExpr(cty.DynamicVal, b.DefRange) // it is missing
	}
	return t
}

func (d *decoder) decodeImport(b *hcl.Block) *Import {
	since := d.faultsSince()
	content := d.content(b.Body, importSchema())
	i := &Import{Name: b.Labels[0], Range: b.DefRange}
	if i.Name == sourceOwn || i.Name == sourceAll {
		d.faults.add(fault(b.LabelRanges[0], "Reserved name", "An import cannot be called %q: as a table's source the word means something else.", i.Name))
	}
	if attr := d.required(content, "file", b.DefRange, "import block"); attr != nil {
		name := read(d, attr, "", textValue)
		i.File = beside(d.src.dir, name)
		if name != "" && !isFile(i.File) {
			d.faults.add(fault(attr.Expr.Range(), "No such file", "There is no file %s; names are relative to the experiment's directory.", name))
		}
	}
	i.Faulty = since()
	for _, cb := range content.Blocks {
		cc := d.content(cb.Body, importCheckSchema())
		c := ImportCheck{Range: cb.DefRange}
		c.Column = read(d, d.required(cc, "column", cb.DefRange, "check"), "", textValue)
		c.Formula = d.reportExpr(d.required(cc, "formula", cb.DefRange, "check"))
		c.Phase = read(d, cc.Attributes["phase"], "", textValue)
		d.checkPhaseName(c.Phase, cc.Attributes["phase"])
		if c.Formula != nil {
			i.Checks = append(i.Checks, c)
		}
	}
	return i
}

// checkSources reports tables whose source is no import.
func (d *decoder) checkSources() {
	names := []string{sourceOwn, sourceAll}
	for _, b := range d.report {
		if i, ok := b.(*Import); ok {
			names = append(names, i.Name)
		}
	}
	recorded := false // names has the imports that are on record
	for _, b := range d.report {
		t, ok := b.(*Table)
		if !ok || slices.Contains(names, t.Source) {
			continue
		}
		if !recorded && d.opts.Imported != nil {
			names = append(names, d.opts.Imported(d.src.dir)...)
			recorded = true
		}
		if !slices.Contains(names, t.Source) && !d.mayBe("import", t.Source) {
			d.faults.add(fault(t.Range, "Unknown source", "The table %q takes its rows from %q, which no import block is called%s", t.Name, t.Source, alternatives(t.Source, "", names)))
		}
	}
}
