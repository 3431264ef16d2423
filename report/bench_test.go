package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dbmatrix/matrix"
)

// A large experiment has 10,000 runs with 60 metrics each.
const (
	largeLevels     = 100 // of the axis laid down; the one across has
	largeAcross     = 20
	largeReplicates = 5
	largeMetrics    = 60
	largeReadings   = 2000
)

// largeInput makes the input of a report with ten tables and five charts.
func largeInput(tb testing.TB) Input {
	tb.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "experiment {\n title = \"Large\"\n replicates = %d\n}\n", largeReplicates)
	for axis, n := range map[string]int{"down": largeLevels, "over": largeAcross} {
		fmt.Fprintf(&b, "axis %q {\n levels = range(1, %d)\n}\n", axis, n+1)
	}
	b.WriteString("phase \"load\" {\n server = server.mariadb\n workload \"insert_benchmark\" {\n step = \"load\"\n tables = tonumber(axis.down)\n clients = tonumber(axis.over)\n }\n}\n")
	for i := range 10 {
		fmt.Fprintf(&b, "table \"t%d\" {\n phase = \"load\"\n", i)
		switch i % 5 {
		case 0: // a row for each cell
			b.WriteString("columns = [\"ips\", \"r/i\", \"rkb/i\", \"wkb/i\", \"Mcpu/i\", \"size\", \"rss\", \"rmb/s\", \"wmb/s\", \"cpu\"]\n")
		case 1: // across
			b.WriteString("columns = [\"ips\", \"wkb/i\"]\n rows = [\"down\"]\n across = [\"over\"]\n interval = true\n")
		case 2: // relative
			b.WriteString("columns = [\"ips\"]\n baseline = { over = \"1\" }\n column \"rel\" {\n of = \"ips\"\n relative = true\n }\n")
		case 3: // an expression
			b.WriteString("columns = [\"ips\"]\n aggregate = \"median\"\n column \"both\" { value = col[\"ips\"] / col[\"wkb/i\"] }\n")
		case 4: // merged
			b.WriteString("columns = [\"ips\", \"cpu\"]\n rows = [\"down\"]\n sort = [\"-ips\"]\n")
		}
		b.WriteString("}\n")
	}
	for i, body := range []string{
		"kind = \"bar\"\n x = \"over\"\n y = \"ips\"\n series = [\"over\"]",
		"kind = \"bar\"\n x = \"down\"\n y = \"wkb/i\"\n series = []",
		"kind = \"line\"\n x = \"down\"\n y = \"cpu\"\n series = [\"over\"]\n log = true",
		"kind = \"line\"\n x = \"time\"\n y = \"ips\"\n series = [\"over\"]\n only = axis.down == \"1\"",
		"kind = \"box\"\n x = \"over\"\n y = \"ips\"\n only = axis.down == \"1\"",
	} {
		fmt.Fprintf(&b, "chart \"c%d\" {\n phase = \"load\"\n %s\n}\n", i, body)
	}
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "experiment.hcl"), []byte(b.String()), 0o644); err != nil {
		tb.Fatal(err)
	}
	exp, cells := loadExperiment(tb, dir, "")
	in := Input{Experiment: exp, Cells: cells, Eval: exp.Eval, Readings: largeSeries}
	for i, c := range cells {
		for k := 1; k <= largeReplicates; k++ {
			in.Attempts = append(in.Attempts, largeAttempt(c, i, k))
		}
	}
	return in
}

func largeAttempt(c *matrix.Cell, i, k int) Attempt {
	rate := 1000 + float64(i*7919%5000) + float64(k)
	m := madeUpMetrics(100, map[string]float64{"rows_inserted": 100 * rate})
	for n := len(m); n < largeMetrics; n++ {
		m.put(fmt.Sprint("metric_", n), float64(n))
	}
	id := int64(largeReplicates*i + k)
	return Attempt{
		Source: Own, ID: id, Cell: c.Key, Replicate: k, Number: 1, Status: matrix.OK,
		Facts: map[string]string{"kernel": "6.1"},
		Phases: []PhaseResult{{
			Phase: "load", Block: "load", Iteration: 1, Status: matrix.OK, Fingerprint: c.Fingerprints[0], Origin: id, Record: id, Metrics: m,
		}},
	}
}

func largeSeries(record int64, metrics ...string) ([]matrix.Series, error) {
	s := matrix.Series{Metric: metrics[0], Unit: "1/s"}
	for i := range largeReadings {
		s.Readings = append(s.Readings, matrix.Reading{At: time.Duration(i+1) * time.Second, Value: 1000 + 100*math.Sin(float64(i*int(record)))})
	}
	return []matrix.Series{s}, nil
}

// BenchmarkLarge makes the report of 10,000 runs; it should take less than 2 s.
func BenchmarkLarge(b *testing.B) {
	in := largeInput(b)
	for _, format := range []string{"text", "html"} {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				doc, diags := Build(in)
				if diags.HasErrors() {
					b.Fatal(diags)
				}
				if err := Render(io.Discard, doc, format, Options{}); err != nil {
					b.Fatal(err)
				}
				files, err := doc.ChartFiles(Options{})
				if err != nil || len(files) != 5 {
					b.Fatalf("%d charts (%v)", len(files), err)
				}
				for _, f := range files {
					if err := f.Write(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkSmall makes the report of the model.
func BenchmarkSmall(b *testing.B) {
	exp, cells := loadExperiment(b, filepath.Join("testdata", "model"), "")
	in := Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval, Readings: madeUpReadings}
	for b.Loop() {
		doc, diags := Build(in)
		if diags.HasErrors() {
			b.Fatal(diags)
		}
		if err := Render(io.Discard, doc, "html", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
