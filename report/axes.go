package report

import (
	"slices"
	"strings"

	"dbmatrix/matrix"
)

// An axisOrder knows the axes of an experiment and where each level stands on
// its axis. Levels that only an import knows follow those of the definition, in
// the order in which they were met.
type axisOrder struct {
	names  []string
	labels map[string]string // how tables call an axis
	pos    map[axisLevel]int
	text   map[axisLevel]string // how tables show a level
	about  map[axisLevel]string // descriptions
	count  map[string]int
}

type axisLevel struct{ axis, level string }

func newAxisOrder(exp *matrix.Experiment, cells []*matrix.Cell) *axisOrder {
	o := &axisOrder{
		labels: map[string]string{}, pos: map[axisLevel]int{}, text: map[axisLevel]string{},
		about: map[axisLevel]string{}, count: map[string]int{},
	}
	for _, a := range exp.Axes {
		o.names = append(o.names, a.Name)
		o.labels[a.Name] = a.Name
		if a.Label != "" {
			o.labels[a.Name] = a.Label
		}
		for _, l := range a.Levels {
			at := axisLevel{a.Name, l.Name}
			o.add(at)
			o.text[at] = l.Label
			o.about[at] = l.Description
		}
	}
	for _, c := range cells {
		for _, l := range c.Levels {
			at := axisLevel{l.Axis, l.Name}
			o.add(at)
			o.text[at] = l.Text // evaluated, where the block held an expression
		}
	}
	return o
}

// add puts a level at the end of its axis unless it is there.
func (o *axisOrder) add(at axisLevel) {
	if _, ok := o.pos[at]; ok {
		return
	}
	if !slices.Contains(o.names, at.axis) {
		o.names = append(o.names, at.axis)
		o.labels[at.axis] = at.axis
	}
	o.pos[at] = o.count[at.axis]
	o.count[at.axis]++
	o.text[at] = at.level
}

// label returns how tables show a level.
func (o *axisOrder) label(axis, level string) string { return o.text[axisLevel{axis, level}] }

// compare orders two cells by their levels on the given axes. A cell that does
// not have an axis stands before those that do.
func (o *axisOrder) compare(axes []string, a, b map[string]string) int {
	for _, axis := range axes {
		if d := o.place(axis, a) - o.place(axis, b); d != 0 {
			return d
		}
	}
	return 0
}

// places returns where a cell stands on each of some axes.
func (o *axisOrder) places(axes []string, levels map[string]string) []int {
	places := make([]int, 0, len(axes)+1)
	for _, axis := range axes {
		places = append(places, o.place(axis, levels))
	}
	return places
}

func (o *axisOrder) place(axis string, levels map[string]string) int {
	level, ok := levels[axis]
	if !ok {
		return -1
	}
	return o.pos[axisLevel{axis, level}]
}

// joined names a point by the labels of its levels, joined by a dot; an empty
// label leaves its level out, unless that leaves nothing.
func (o *axisOrder) joined(axes []string, levels map[string]string) string {
	var labels, names []string
	for _, axis := range axes {
		level, ok := levels[axis]
		if !ok {
			continue
		}
		names = append(names, level)
		if text := o.label(axis, level); text != "" {
			labels = append(labels, text)
		}
	}
	if len(labels) == 0 {
		labels = names
	}
	return strings.Join(labels, ".")
}

// project returns the levels of a cell on some axes.
func project(axes []string, levels map[string]string) map[string]string {
	p := make(map[string]string, len(axes))
	for _, axis := range axes {
		if level, ok := levels[axis]; ok {
			p[axis] = level
		}
	}
	return p
}

// pointKey is a comparable name of a point on some axes.
func pointKey(axes []string, levels map[string]string) string {
	var b strings.Builder
	for _, axis := range axes {
		level, ok := levels[axis]
		if ok {
			b.WriteString("=")
		}
		b.WriteString(level)
		b.WriteString("\x00")
	}
	return b.String()
}
