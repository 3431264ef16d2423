package insertbench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload/workloadtest"
)

// TestExperiment runs all steps of both profiles as one experiment, that of
// experiments/insert-benchmark, with the program itself, on InnoDB, MyRocks and
// PostgreSQL. In every row of every table there must be a
// number in every column, but for percentiles of rates: most phases are too short
// for them.
func TestExperiment(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	machine := machineFile(t)
	dir := t.TempDir()
	// A server does not run as root, and needs to reach its data.
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	dbmatrix := filepath.Join(dir, "dbmatrix")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", dbmatrix, "dbmatrix/cmd/dbmatrix").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	experiment := filepath.Join(dir, "experiment")
	if err := os.CopyFS(experiment, os.DirFS("../../../experiments/insert-benchmark")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "machine.hcl"), []byte(machine), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), dbmatrix, args...)
		cmd.Env = append(os.Environ(), "DBMATRIX_MACHINE="+filepath.Join(dir, "machine.hcl"), "DBMATRIX_HOST_LOCK="+filepath.Join(dir, "lock"),
			"XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		var failure strings.Builder
		cmd.Stderr = &failure
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("dbmatrix %s: %v\n%s", strings.Join(args, " "), err, failure.String())
		}
		return out
	}
	call("run", experiment, "--var", "scale=tiny")
	var report struct {
		Blocks []struct{ Table *reportTable }
	}
	if err := json.Unmarshal(call("report", "--format", "json", experiment), &report); err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, block := range report.Blocks {
		if block.Table != nil {
			tables++
			block.Table.check(t)
		}
	}
	// The five scans and their seconds, 13 other phases, and the summary.
	if tables != 20 {
		t.Errorf("%d tables, want 20", tables)
	}
}

// machineFile returns one that names the experiment's servers.
func machineFile(t *testing.T) string {
	t.Helper()
	plugins := workloadtest.PluginDirs()
	if len(plugins) == 0 {
		workloadtest.Missing(t, "the MyRocks plugin of the installed server")
	}
	return fmt.Sprintf(`server "mariadb1011" { mysqld = %q }
server "myrocks1011" {
  mysqld = %[1]q
  my_cnf = {
    plugin_dir      = %[2]q
    plugin_load_add = "ha_rocksdb"
  }
}
server "pg15" { bindir = %[3]q }
`, workloadtest.MariaDBServer(t), plugins[0], workloadtest.PostgresPrograms(t))
}

// A reportTable is what the test reads of a table of the report.
type reportTable struct {
	Name    string
	Columns []struct{ Token, Label string }
	Rows    []struct {
		Levels struct{ Engine string }
		Cells  []struct{ Value *float64 }
	}
}

// percentile is what the columns of percentiles of rates are called.
var percentile = regexp.MustCompile(`^[idq]ps\.\d\d$`)

// check looks for what is missing.
func (r *reportTable) check(t *testing.T) {
	t.Helper()
	var got []string
	for _, row := range r.Rows {
		got = append(got, row.Levels.Engine)
		for i, cell := range row.Cells {
			column := r.Columns[i]
			if cell.Value == nil && !percentile.MatchString(column.Token) {
				t.Errorf("table %s, %s: the column %s is empty", r.Name, row.Levels.Engine, column.Label)
			}
		}
	}
	if diff := cmp.Diff([]string{"innodb", "myrocks", "postgres"}, got); diff != "" {
		t.Errorf("rows of table %s (-want +got):\n%s", r.Name, diff)
	}
}
