package report

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestModel builds a report that uses every part of the table model, and compares
// it in each format with a golden file.
func TestModel(t *testing.T) {
	doc := buildModel(t, madeUp)
	for format, file := range map[string]string{
		"text": "model.txt", "markdown": "model.md", "html": "model.html", "csv": "model.csv", "json": "model.json", "benchfmt": "model.bench",
	} {
		t.Run(format, func(t *testing.T) { compareGolden(t, file, rendered(t, doc, format)) })
	}
}

// TestDeterminism builds the same report from the attempts in other orders: the
// bytes must not change.
func TestDeterminism(t *testing.T) {
	want := rendered(t, buildModel(t, madeUp), "json")
	random := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		shuffled := func(cells []*matrix.Cell) []Attempt {
			attempts := madeUp(cells)
			random.Shuffle(len(attempts), func(i, j int) { attempts[i], attempts[j] = attempts[j], attempts[i] })
			return attempts
		}
		if diff := cmp.Diff(want, rendered(t, buildModel(t, shuffled), "json")); diff != "" {
			t.Fatalf("the order of the attempts changes the report: -want +got\n%s", diff)
		}
	}
}

func buildModel(t *testing.T, attempts func([]*matrix.Cell) []Attempt) *Document {
	t.Helper()
	exp, cells := loadExperiment(t, filepath.Join("testdata", "model"), "")
	doc, diags := Build(Input{
		Experiment: exp, Cells: cells, Attempts: attempts(cells), Eval: exp.Eval, Readings: madeUpReadings, Servers: madeUpServers(cells), Appendix: 15,
	})
	failOn(t, exp.Files, diags)
	return doc
}

func rendered(t *testing.T, doc *Document, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, doc, format, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", path, diff)
	}
}

// madeUp returns three attempts of each cell, all but those that are to be seen
// as missing: a load that failed, a rate that was missed, a run that is stale, one
// that was never made and one that was withdrawn.
func madeUp(cells []*matrix.Cell) []Attempt {
	var attempts []Attempt
	loads := map[string]int64{} // the attempt that loaded for a fingerprint and replicate
	for i, c := range cells {
		for k := 1; k <= 3; k++ {
			if i == len(cells)-1 && k == 3 {
				continue // not run yet
			}
			a := madeUpAttempt(c, i, k)
			from := fmt.Sprint(c.Fingerprints[0], k)
			if loads[from] == 0 {
				loads[from] = a.ID
			}
			for j := range a.Phases {
				a.Phases[j].Origin = a.ID
				if a.Phases[j].Phase == "load" {
					a.Phases[j].Origin = loads[from]
				}
			}
			attempts = append(attempts, a)
		}
	}
	spoil(attempts)
	return attempts
}

func madeUpAttempt(c *matrix.Cell, i, k int) Attempt {
	a := Attempt{
		Source: Own, ID: int64(10*i + k), Cell: c.Key, Replicate: k, Number: 1, Status: matrix.OK,
		Facts: map[string]string{"kernel": "6.1", "memory": "24 GB"},
	}
	load := float64(1000 * (10 + i/2)) // equal for the cells that share it
	a.Phases = append(a.Phases, PhaseResult{
		Phase: "load", Block: "load", Iteration: 1, Status: matrix.OK, Fingerprint: c.Fingerprints[0], Record: a.ID,
		Metrics: madeUpMetrics(10, map[string]float64{"rows_inserted": 10 * (load + float64(k))}),
	})
	for n := 1; n <= 2; n++ {
		rate := float64(1000 + 500*i + 10*k - 100*n)
		a.Phases = append(a.Phases, PhaseResult{
			Phase: "query", Block: "query", Iteration: n, Status: matrix.OK, Fingerprint: c.Fingerprints[1],
			Metrics: madeUpMetrics(30, map[string]float64{"queries": 30 * rate, "lat_query_p99": 0.001 * float64(k), "errors": 0}),
		})
	}
	return a
}

// madeUpReadings returns the readings of a load of ten seconds: rates that rise,
// with a stall in the middle, of each client and of all, and the host's CPU, which
// is read a little later and once more at the end. One load has none.
func madeUpReadings(record int64, metrics ...string) ([]matrix.Series, error) {
	if record/10 == 6 {
		return nil, nil
	}
	if len(metrics) == 0 {
		metrics = []string{"cpu_idle", "cpu_iowait", "cpu_steal", "cpu_system", "cpu_user", "ips", "swap_in", "server_write_bytes"}
	}
	var all []matrix.Series
	for _, name := range metrics {
		s := matrix.Series{Metric: name}
		switch name {
		case "ips":
			s.Unit = "1/s"
			for i := range 10 {
				v := float64(1000*(10+record/20)) * (1 + float64(i)/20)
				if i == 5 {
					v = math.NaN()
				}
				s.Readings = append(s.Readings, matrix.Reading{At: time.Duration(i+1) * time.Second, Value: v})
			}
			one := s
			one.Instance = "client 1"
			all = append(all, one)
		case "cpu_user", "cpu_system", "cpu_iowait", "cpu_idle", "cpu_steal":
			for i := range 10 {
				s.Readings = append(s.Readings, matrix.Reading{At: time.Duration(i+1)*time.Second + 3*time.Millisecond, Value: float64(len(name)) + float64(i%3)})
			}
			s.Readings = append(s.Readings, matrix.Reading{At: 10*time.Second + 5*time.Millisecond, Value: 0})
		case "swap_in", "server_write_bytes":
			s.Unit = "B"
			for i := range 10 {
				v := float64(i * len(name) % 18 << 20)
				s.Readings = append(s.Readings, matrix.Reading{At: time.Duration(i+1) * time.Second, Value: v})
			}
		default:
			continue
		}
		all = append(all, s)
	}
	return all, nil
}

// madeUpServers returns what the servers of the attempts were asked for: a cache of
// which two sizes are rounded to the same one, and an option of one engine alone.
func madeUpServers(cells []*matrix.Cell) Servers {
	return func([]Attempt) (map[int64]ServerSettings, error) {
		settings := map[int64]ServerSettings{}
		for i, c := range cells {
			engine, _ := c.Level("engine")
			clients, _ := c.Level("clients")
			asked := []AskedOption{
				{"load", OptionLine{"innodb_buffer_pool_size", "24M", "defaults, experiment.hcl:3"}, ""},
				{"load", OptionLine{"table_open_cache", "10" + clients.Name, "level clients." + clients.Name + ", experiment.hcl:9"}, ""},
			}
			if engine.Name == "rocks" {
				asked = append(asked, AskedOption{"load", OptionLine{"rocksdb_flush_log_at_trx_commit", "2", "level engine.rocks, experiment.hcl:14"}, ""})
			}
			for k := 1; k <= 3; k++ {
				settings[int64(10*i+k)] = ServerSettings{Asked: asked, Variables: map[string]string{"default_storage_engine": engine.Name}}
			}
		}
		return settings, nil
	}
}

func madeUpMetrics(secs float64, more map[string]float64) Metrics {
	m := Metrics{}
	for name, v := range map[string]float64{
		"secs": secs, "cpu_user": secs, "cpu_system": secs / 2, "cpu_iowait": secs / 10, "cpu_idle": secs / 5, "cpu_steal": 0,
		"disk_reads": 3, "disk_read_bytes": 1 << 20, "disk_write_bytes": 1 << 30, "size_allocated": 5 << 30, "server_rss": 3 << 28,
	} {
		m.put(name, v)
	}
	for name, v := range more {
		m.put(name, v)
	}
	return m
}

// spoil makes some of the attempts those that a report must not show as good.
func spoil(attempts []Attempt) {
	find := func(cell matrix.CellKey, k int) *Attempt {
		return &attempts[slices.IndexFunc(attempts, func(a Attempt) bool { return a.Cell == cell && a.Replicate == k })]
	}
	missed := find("engine=inno,compression=c0,clients=1,host=only", 2)
	missed.Status, missed.Phases[2].Status, missed.Phases[2].Message = matrix.SLAMissed, matrix.SLAMissed, "91% of the rate"
	missed.Phases[2].Flags = []matrix.Flag{{Name: "swap", Detail: "512 pages were read back"}}

	also := find("engine=inno,compression=c1,clients=1,host=only", 2)
	also.Phases[2].Flags = []matrix.Flag{{Name: "swap", Detail: "64 pages were read back"}}

	for k := 1; k <= 3; k++ {
		failed := find("engine=rocks,compression=c0,clients=1,host=only", k)
		failed.Status, failed.Message = matrix.Crashed, "the server died of signal 9"
		failed.Phases[1].Status, failed.Phases[1].Message = matrix.Crashed, "signal 9"
		failed.Phases = failed.Phases[:2]
	}
	find("engine=rocks,compression=c1,clients=1,host=only", 1).Withdrawn = "the fan was off"
	find("engine=inno,compression=c0,clients=4,host=only", 2).Phases[1].Fingerprint = "old"
	for k := 1; k <= 3; k++ {
		old := find("engine=inno,compression=c1,clients=4,host=only", k)
		old.Phases[1].Fingerprint, old.Phases[2].Fingerprint = "old", "old"
		old.Facts["kernel"] = "5.10"
		old.Options = []OptionOutcome{
			{Name: "table_open_cache", Asked: "9999999", InForce: "524288", Outcome: "adjusted"},
			{Name: "rocksdb_default_cf_options", Asked: "compression=none", Outcome: unverifiable},
		}
	}
}
