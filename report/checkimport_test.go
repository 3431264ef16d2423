package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"dbmatrix/matrix"
)

// TestCheckImports verifies the relations that the published insert benchmark
// and LinkBench tables claim. Exactly five values of the first do not fit: three
// in the row of a misprinted rate, two that are one unit off.
func TestCheckImports(t *testing.T) {
	insert := func(rate, op string) map[string]string {
		return map[string]string{
			"r/" + op:    `col["r/s"] / col["` + rate + `"]`,
			"rkb/" + op:  `1000 * col["rmb/s"] / col["` + rate + `"]`,
			"Mcpu/" + op: `1000000 * col["cpu"] / col["` + rate + `"]`,
		}
	}
	link := func(rate, op string) map[string]string {
		return map[string]string{
			"r/" + op:    `col["r/s"] / col["` + rate + `"]`,
			"rkb/" + op:  `1000 * col["rMB/s"] / col["` + rate + `"]`,
			"wkb/" + op:  `1000 * col["wMB/s"] / col["` + rate + `"]`,
			"Mcpu/" + op: `1000000 * col["cpu"] / col["` + rate + `"]`,
		}
	}
	tests := []struct {
		name      string
		relations []map[string]string
		want      []string
	}{
		{
			"insert-benchmark-dio",
			[]map[string]string{insert("ips.av", "i"), insert("qps.av", "q"), {
				"wkb/i": `1000 * col["wmb/s"] / col["ips.av"]`,
				"rGB":   `col["rKB/o"] * 2000000000 / 1024 / 1024`,
			}},
			[]string{
				"oltp-16x100 binary=myrocks.8may18,compression=none,io=dio Mcpu/q 500: 476.19 to 478.46",
				"oltp-16x100 binary=myrocks.8may18,compression=none,io=dio r/q 0.33: 0.31855 to 0.31858",
				"oltp-16x100 binary=myrocks.8may18,compression=none,io=dio rkb/q 6.72: 6.4189 to 6.4213",
				"oltp-16x1000 binary=inno.o5717 r/i 2.26: 2.2544 to 2.2546",
				"oltp-16x1000 binary=myrocks.8may18,compression=zstd,io=buffered rkb/i 9.45: 9.4380 to 9.4449",
			},
		},
		{"linkbench-dio", []map[string]string{link("ips", "i"), link("tps", "t")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exp, cells := loadExperiment(t, filepath.Join("..", "experiments", tt.name), "published")
			i := slices.IndexFunc(exp.Report, func(b matrix.ReportBlock) bool { return b.BlockName() == "published" })
			imp := exp.Report[i].(*matrix.Import)
			for _, relations := range tt.relations {
				for _, column := range sortedKeys(relations) {
					imp.Checks = append(imp.Checks, matrix.ImportCheck{Column: column, Formula: parseExpression(t, relations[column])})
				}
			}
			misfits, diags := CheckImports(Input{Experiment: exp, Cells: cells, Eval: exp.Eval})
			failOn(t, exp.Files, diags)
			var got []string
			for _, m := range misfits {
				got = append(got, fmt.Sprintf("%s %s %s %s: %s to %s", m.Phase, m.Cell, m.Column, m.Printed, significant(m.Low, 5), significant(m.High, 5)))
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			_, diags = Build(Input{Experiment: exp, Cells: cells, Eval: exp.Eval, Show: "published"})
			if len(diags) != len(tt.want) {
				t.Errorf("a report warns of %d values, want %d", len(diags), len(tt.want))
			}
		})
	}
}

func parseExpression(t *testing.T, text string) hcl.Expression {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(text), "test.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return expr
}
