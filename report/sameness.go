package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dbmatrix/matrix"
)

// A disguise is cells whose servers were asked for different options and had the
// same in force: what the table shows as a difference was none.
type disguise struct {
	rows    []string
	options []string // in which they were asked for something else
}

// samenessRemarks tell of rows whose servers had the same in force although they
// were asked for different options.
func (tb *tableBuilder) samenessRemarks() []string {
	var remarks []string
	for _, d := range tb.disguises() {
		remarks = append(remarks, fmt.Sprintf("%s were asked for different options (%s), and their servers had the same in force: they measure one setting",
			listed(d.rows), strings.Join(d.options, ", ")))
	}
	return remarks
}

// disguises compares what the servers of the shown runs were asked for with what
// they had in force: all variables, and the options that are none.
func (tb *tableBuilder) disguises() []disguise {
	type group struct {
		rows  []string
		asked []map[string]string
	}
	groups := map[string]*group{}
	var order []*group
	for _, r := range tb.rows {
		for _, s := range r.slots {
			shown := tb.shown(s)
			if shown == nil || shown.attempt == nil || shown.cell == nil || !tb.asksBeside(shown) {
				continue
			}
			settings, known := tb.b.servers()[shown.attempt.ID]
			if !known || len(settings.Asked) == 0 || settings.Variables == nil {
				continue
			}
			key := settings.inForce()
			g := groups[key]
			if g == nil {
				g = &group{}
				groups[key], order = g, append(order, g)
			}
			g.rows = append(g.rows, tb.slotName(s))
			g.asked = append(g.asked, settings.asked())
		}
	}
	var found []disguise
	for _, g := range order {
		if options := differingNames(g.asked); len(options) > 0 {
			found = append(found, disguise{g.rows, options})
		}
	}
	return found
}

// asksBeside reports whether the definition has servers of the table's cells
// start with different options: only then is it worth reading what was in force.
func (tb *tableBuilder) asksBeside(r *run) bool {
	if tb.asked == nil {
		tb.asked = map[string]bool{}
		var last *matrix.Cell // replicates stand together
		for _, other := range tb.runs {
			if other.cell != nil && other.cell != last {
				last = other.cell
				tb.asked[optionsKey(last)] = true
			}
		}
	}
	return len(tb.asked) > 1
}

// optionsKey is a comparable form of the options of all phases of a cell.
func optionsKey(c *matrix.Cell) string {
	var b strings.Builder
	for _, p := range c.Phases {
		for _, o := range p.Settings.Options {
			fmt.Fprintf(&b, "%s\x00%s\x00", o.Name, o.Value.String())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// slotName names a slot by its row, and the levels laid across.
func (tb *tableBuilder) slotName(s *slot) string {
	name := s.row.label
	if len(tb.across) > 0 {
		name = strings.Join(slices.DeleteFunc([]string{name, tb.b.axes.joined(tb.across, tb.points[s.point])}, isEmpty), " ")
	}
	return cmp.Or(name, "the row")
}

// inForce is a comparable form of all that a server told of its settings.
func (s *ServerSettings) inForce() string {
	var b strings.Builder
	for _, name := range sortedKeys(s.Variables) {
		fmt.Fprintf(&b, "%s\x00%s\x00", name, s.Variables[name])
	}
	for _, o := range s.Asked {
		if o.Apart != "" {
			fmt.Fprintf(&b, "%s\x00%s\x00%s\x00", o.Phase, o.Name, o.Apart)
		}
	}
	return b.String()
}

// asked returns the options that were asked for, by name; one that a later phase
// asked for otherwise is there by name and phase too. So a run that goes on from
// another's load asks for what that one asked, unless a phase changes it.
func (s *ServerSettings) asked() map[string]string {
	asked := map[string]string{}
	for _, o := range s.Asked {
		switch first, there := asked[o.Name]; {
		case !there:
			asked[o.Name] = o.Value
		case first != o.Value:
			asked[o.Name+" in "+o.Phase] = o.Value
		}
	}
	return asked
}

// differingNames returns the names that do not have one value in all maps.
func differingNames(maps []map[string]string) []string {
	differ := map[string]bool{}
	for _, m := range maps {
		for _, other := range maps {
			for name, value := range m {
				if v, ok := other[name]; !ok || v != value {
					differ[name] = true
				}
			}
		}
	}
	return sortedKeys(differ)
}

// listed joins names as a sentence does.
func listed(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
