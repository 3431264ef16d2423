package report

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

// TestAppendix checks what stands behind the numbers of the model.
func TestAppendix(t *testing.T) {
	a := buildModel(t, madeUp).Appendix
	if diff := cmp.Diff([]Setting{{"memory", "24 GB"}}, a.Facts); diff != "" {
		t.Errorf("facts: -want +got\n%s", diff)
	}
	short := func(list []Difference) (out []string) {
		for _, d := range list {
			for _, v := range d.Values {
				out = append(out, d.Name+" = "+v.Value+": "+strings.Join(v.Of, " "))
			}
		}
		return out
	}
	want := []string{
		"rocksdb_flush_log_at_trx_commit = (not set): 1 2", "rocksdb_flush_log_at_trx_commit = 2: 3 4",
		"table_open_cache = 101: 1 3", "table_open_cache = 104: 2 4",
	}
	if diff := cmp.Diff(want, short(a.Options)); diff != "" {
		t.Errorf("options: -want +got\n%s", diff)
	}
	if got := short(a.Differing); len(got) != 2 || !strings.HasPrefix(got[1], "kernel = 5.10: inno.c1.4 (1) inno.c1.4 (2)") {
		t.Errorf("facts that differ: %q", got)
	}
	if len(a.Variables) != 1 || a.Variables[0].Name != "default_storage_engine" || len(a.Variables[0].Values) != 2 {
		t.Errorf("variables: %+v", a.Variables)
	}
	if len(a.Files) != 4 || len(a.Files[2].Lines) != 3 || !slices.Contains(a.Files[1].Of, "inno.c0.4 (3)") {
		t.Errorf("files: %+v", a.Files)
	}
	if a.HeldBack != 6 || len(a.Runs) == 0 {
		t.Errorf("%d iterations held back, %d runs shown", a.HeldBack, len(a.Runs))
	}
}

// TestAppendixOverTime checks which series a phase shows, and their numbers.
func TestAppendixOverTime(t *testing.T) {
	a := buildModel(t, madeUp).Appendix
	got := a.Runs[0].Phases[0]
	var lines []string
	for _, s := range got.Series {
		lines = append(lines, s.Name+" ["+s.Unit+"] "+s.Low+" to "+s.High)
	}
	want := []string{
		"ips [1/s] 10000 to 14500", "cpu [%] 40.0 to 40.0", "wa [%] 21.8 to 22.2", "st [%] 20.0 to 20.0", "swap_in [MB/s] 0 to 17",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got.Phase != "load" || got.Seconds != 10 || !slices.Equal(got.Still, []string{"server_write_bytes"}) {
		t.Errorf("phase %s of %g s, %q still", got.Phase, got.Seconds, got.Still)
	}
}

// TestPlotPath checks that a line has a step for each interval, that a gap is
// none, and that of many points the extremes stay.
func TestPlotPath(t *testing.T) {
	s := TimeSeries{Points: []TimePoint{{1, 10}, {2, 5}, {3, math.NaN()}, {4, 20}}}
	if got, want := s.path(), "M0 30h75v15h75M225 0h75"; got != want {
		t.Errorf("path %q, want %q", got, want)
	}
	long := TimeSeries{}
	for i := range 100_000 {
		y := 1.0
		if i == 77_777 {
			y = 100
		}
		long.Points = append(long.Points, TimePoint{float64(i + 1), y})
	}
	if got := long.path(); !strings.Contains(got, "v-59") || len(got) > 20*plotWidth {
		t.Errorf("a spike among 100,000 points is not drawn, or as %d bytes", len(got))
	}
	below := TimeSeries{Points: []TimePoint{{1, -5}, {2, 5}}}
	if got, want := below.path(), "M0 60h150v-60h150"; got != want {
		t.Errorf("path %q, want %q", got, want)
	}
}

// TestServersFault checks that settings which cannot be read are a fault.
func TestServersFault(t *testing.T) {
	exp, cells := loadBlocks(t, "")
	in := Input{Experiment: exp, Cells: cells, Attempts: madeUp(cells), Eval: exp.Eval, Appendix: 1}
	in.Servers = func([]Attempt) (map[int64]ServerSettings, error) { return nil, errors.New("no such table") }
	in.Readings = func(int64, ...string) ([]matrix.Series, error) { return nil, errors.New("no such column") }
	_, diags := Build(in)
	var got []string
	for _, d := range diags {
		got = append(got, d.Detail)
	}
	if diff := cmp.Diff([]string{"no such table.", "no such column."}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestPlaceVariable(t *testing.T) {
	for _, v := range []struct {
		name, value string
		want        bool
	}{
		{"datadir", "/data/1/", true}, {"server_uuid", "1-2", true}, {"gtid_executed", "", true}, {"innodb_data_home_dir", "", false},
		{"innodb_flush_method", "O_DIRECT", false}, {"port", "3306", true},
	} {
		if got := PlaceVariable(v.name, v.value); got != v.want {
			t.Errorf("PlaceVariable(%s, %q) = %t", v.name, v.value, got)
		}
	}
}
