package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestSameness checks when rows are said to measure one setting: where the options
// that were asked for differ, and nothing that the servers had in force.
func TestSameness(t *testing.T) {
	const blocks = `
axis "cache" {
  level "odd" { my_cnf = { table_open_cache = 401 } }
  level "even" { my_cnf = { table_open_cache = 400 } }
  phases = ["query"]
}
table "t" {
  phase   = "query"
  columns = ["qps"]
  rows    = ["cache"]
  only    = axis.engine == "inno" && axis.compression == "c0" && axis.clients == "1"
}
`
	asked := func(cache, apart string) ServerSettings {
		s := ServerSettings{Variables: map[string]string{"version": "10.11"}, Asked: []AskedOption{
			{"load", OptionLine{Name: "log_bin", Value: "OFF"}, ""},
			{"query", OptionLine{Name: "table_open_cache", Value: cache}, apart},
		}}
		if cache == "" {
			s.Asked = s.Asked[:1]
		}
		return s
	}
	other := asked("400", "")
	other.Variables = map[string]string{"version": "10.11", "table_open_cache": "400"}
	told := func(s ServerSettings, variables map[string]string) ServerSettings {
		s.Variables = variables
		return s
	}
	const said = "odd and even were asked for different options (table_open_cache), and their servers had the same in force: they measure one setting"
	tests := []struct {
		name      string
		odd, even ServerSettings
		want      []string
	}{
		{"rounded to the same", asked("401", ""), asked("400", ""), []string{said}},
		{"a default that is asked for", asked("", ""), asked("400", ""), []string{said}},
		{"asked for alike", asked("400", ""), asked("400", ""), nil},
		{"another variable in force", asked("401", ""), other, nil},
		{"no variable tells", asked("401", "401"), asked("400", "400"), nil},
		{"nothing on record", ServerSettings{}, asked("400", ""), nil},
		{"all variables alike", told(asked("401", ""), map[string]string{}), told(asked("400", ""), map[string]string{}), []string{said}},
		{"the variables of one not on record", told(asked("401", ""), map[string]string{}), told(asked("400", ""), nil), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exp, cells := loadBlocks(t, blocks)
			in := Input{Experiment: exp, Cells: cells, Eval: exp.Eval, Attempts: replicated(cells, 1, 0)}
			in.Servers = func([]Attempt) (map[int64]ServerSettings, error) {
				settings := map[int64]ServerSettings{}
				for i, c := range cells {
					settings[int64(100*i+1)] = tt.odd
					if level, _ := c.Level("cache"); level.Name == "even" {
						settings[int64(100*i+1)] = tt.even
					}
				}
				return settings, nil
			}
			doc, diags := Build(in)
			failOn(t, exp.Files, diags)
			got := slices.DeleteFunc(doc.Table("t").Remarks, func(s string) bool { return !strings.Contains(s, "in force") })
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
