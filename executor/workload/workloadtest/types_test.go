package workloadtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/execprog"
	"dbmatrix/executor/workload/insertbench"
	"dbmatrix/executor/workload/linkbench"
	"dbmatrix/executor/workload/pgbench"
	"dbmatrix/executor/workload/sqlscript"
	"dbmatrix/executor/workload/sysbench"
	"dbmatrix/executor/workload/tpcc"
	"dbmatrix/executor/workload/workloadtest"
	"dbmatrix/matrix"
)

func types() []workload.Type {
	return []workload.Type{insertbench.Type(), linkbench.Type(), sqlscript.Type(), sysbench.Type(), pgbench.Type(), tpcc.Type(), execprog.Type()}
}

// TestTypes checks what the language and the documentation rely on.
func TestTypes(t *testing.T) {
	names := map[string]bool{}
	for _, typ := range types() {
		if names[typ.Name] || typ.Name == "" || typ.Summary == "" || typ.Version < 1 {
			t.Errorf("%s: name, summary or version is missing, or there are two of it", typ.Name)
		}
		names[typ.Name] = true
		if typ.Built != (typ.New != nil) {
			t.Errorf("%s: Built is %v, and there is a New: %v", typ.Name, typ.Built, typ.New != nil)
		}
		if typ.Check == nil {
			t.Errorf("%s has no Check", typ.Name)
		}
		attributes := map[string]bool{}
		for _, a := range typ.Attributes {
			place := typ.Name + "." + a.Name
			if attributes[a.Name] {
				t.Errorf("%s is there twice", place)
			}
			attributes[a.Name] = true
			if !strings.HasSuffix(a.Doc, ".") {
				t.Errorf("%s: the documentation %q is no sentence", place, a.Doc)
			}
			if a.Default == cty.NilVal {
				continue
			}
			if !a.Default.Type().Equals(a.Type) {
				t.Errorf("%s: the default has the type %s, not %s", place, a.Default.Type().FriendlyName(), a.Type.FriendlyName())
			}
			if a.Required {
				t.Errorf("%s is required and has a default", place)
			}
			if len(a.Values) > 0 && !slices.Contains(a.Values, a.Default.AsString()) {
				t.Errorf("%s: the default %s is none of its values", place, a.Default.AsString())
			}
		}
	}
}

// TestFaults checks what Check says of arguments; "" is nothing.
func TestFaults(t *testing.T) {
	mariadb := matrix.Build{Flavour: "mariadb", Version: "10.11.19"}
	postgres := matrix.Build{Flavour: "postgres", Version: "15.18.0"}
	for _, test := range []struct {
		typ   string
		block workloadtest.Block
		build matrix.Build
		want  string // attribute: summary, all of them
	}{
		{"insert_benchmark", workloadtest.Block{"step": "load"}, mariadb, ""},
		{"insert_benchmark", workloadtest.Block{"step": "load"}, matrix.Build{}, ""},
		{"insert_benchmark", workloadtest.Block{"step": "load", "rows": 2e9, "tables": 16, "clients": 4, "partitions": 32, "compression": "table", "key_block_size": 4}, mariadb, ""},
		{"insert_benchmark", workloadtest.Block{"step": "load", "profile": "modern"}, mariadb, "profile: the modern profile has no step load"},
		{"insert_benchmark", workloadtest.Block{"step": "l.i0", "profile": "classic"}, mariadb, "profile: the classic profile has no step l.i0"},
		{"insert_benchmark", workloadtest.Block{"step": "l.i1", "tables": 4, "clients": 8, "delete_per_insert": false}, mariadb, ""},
		{"insert_benchmark", workloadtest.Block{"step": "l.i2", "tables": 4, "insert_rows": 19}, mariadb, ""},
		{"insert_benchmark", workloadtest.Block{"step": "l.i2", "tables": 4, "insert_rows": 15}, mariadb, "insert_rows: fewer rows than tables in the step l.i2"},
		{"insert_benchmark", workloadtest.Block{"step": "qr", "secondary_indexes": 0, "htap_seconds": 0}, mariadb, "htap_seconds: no time; secondary_indexes: no range query is left"},
		{"insert_benchmark", workloadtest.Block{"step": "qp", "secondary_indexes": 0}, mariadb, ""},
		{"insert_benchmark", workloadtest.Block{"step": "l.x", "secondary_indexes": 0}, mariadb, "secondary_indexes: no index is left to make"},
		{"insert_benchmark", workloadtest.Block{"step": "l.i0", "bulk_load": true, "clients": 2}, mariadb, "bulk_load: only MyRocks has it; bulk_load: clients share tables"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "partitions": 4, "allow_errors": []string{"23505"}}, postgres, ""},
		{"insert_benchmark", workloadtest.Block{"step": "load", "engine": "rocksdb", "unique_checks": false}, postgres, "engine: PostgreSQL has no storage engines; unique_checks: PostgreSQL has no such variable"},
		{"insert_benchmark", workloadtest.Block{"step": "l.i2", "max_seconds": 10}, mariadb, ""},
		{"insert_benchmark", workloadtest.Block{"step": "l.i0", "compression": "transparent"}, postgres, "compression: PostgreSQL compresses no tables"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "rows": 3, "tables": 4}, mariadb, "rows: fewer rows than tables"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "tables": 4, "clients": 3}, mariadb, "clients: the clients do not share the tables evenly"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "tables": 0, "rows": 1.5, "partitions": -1}, mariadb, "tables: 0 is too small; rows: 1.5 is no whole number; partitions: -1 is too small"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "rows": 10, "partitions": 1000}, mariadb, "partitions: more partitions than rows in a table"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "partitions": 8193}, mariadb, "partitions: too many"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "engine": "rocksdb", "compression": "transparent"}, mariadb, "compression: transparent compression is InnoDB's"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "key_block_size": 8}, mariadb, `key_block_size: only compression = "table" has one`},
		{"insert_benchmark", workloadtest.Block{"step": "load", "compression": "table", "key_block_size": 3}, mariadb, "key_block_size: no such page size"},
		{"insert_benchmark", workloadtest.Block{"step": "query", "secondary_indexes": 0}, mariadb, "secondary_indexes: no range query is left"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "secondary_indexes": 4}, mariadb, "secondary_indexes: too many"},
		{"insert_benchmark", workloadtest.Block{"step": "query", "insert_rate": 0.5}, mariadb, "insert_rate: less than one row a second"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "data_length_min": 30, "data_random": 101}, mariadb, "data_length_max: shorter than data_length_min; data_random: more than all"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "data_length_max": 4001, "allow_errors": []int{0}}, mariadb, "allow_errors: 0 is no error code"},
		{"insert_benchmark", workloadtest.Block{"step": "load", "data_length_max": 4001}, mariadb, "data_length_max: longer than the column"},

		{"sysbench", workloadtest.Block{"step": "run", "script": "oltp_read_only"}, mariadb, ""},
		{"sysbench", workloadtest.Block{"step": "run", "lua": "own.lua"}, mariadb, ""},
		{"sysbench", workloadtest.Block{"step": "run"}, mariadb, "script: no test is named"},
		{"sysbench", workloadtest.Block{"step": "run", "script": "oltp", "seconds": 0}, mariadb, `script: sysbench has no test "oltp"; seconds: the run would not end`},
		{"sysbench", workloadtest.Block{"step": "run", "script": "cpu", "lua": "own.lua"}, mariadb, "lua: two tests are named"},
		{"sysbench", workloadtest.Block{"step": "run", "script": "fileio"}, matrix.Build{}, "options: fileio without file-total-size; options: fileio without file-test-mode"},
		{"sysbench", workloadtest.Block{"step": "run", "script": "fileio", "options": map[string]string{"file-total-size": "1G", "file_test_mode": "rndrd"}}, matrix.Build{}, ""},
		{"sysbench", workloadtest.Block{"step": "run", "script": "cpu", "options": map[string]string{"--num-threads": "4", "rand-seed": "1"}}, mariadb, "options: --num-threads is set elsewhere; options: rand-seed is set elsewhere"},
		{"sysbench", workloadtest.Block{"step": "run", "script": "oltp_insert"}, postgres, ""},
		{"sysbench", workloadtest.Block{"step": "warmup", "script": "oltp_insert"}, postgres, "step: the bundled tests warm up MySQL and MariaDB only"},
		{"sysbench", workloadtest.Block{"step": "run", "script": "oltp_insert", "engine": "rocksdb", "allow_errors": []int{1}}, postgres, "engine: PostgreSQL has no engine rocksdb; allow_errors: the program knows no errors to let pass of PostgreSQL"},
		{"sysbench", workloadtest.Block{"step": "run", "script": "cpu"}, postgres, ""},
		{"sysbench", workloadtest.Block{"step": "run", "script": "cpu", "percentile": 101, "rate": 0}, mariadb, "percentile: more than all; rate: no rate"},

		{"sql", workloadtest.Block{"statements": []string{"DROP TABLE t"}}, mariadb, ""},
		{"sql", workloadtest.Block{"file": "a.sql"}, mariadb, ""},
		{"sql", workloadtest.Block{}, mariadb, "statements: there is nothing to do"},
		{"sql", workloadtest.Block{"statements": []string{" ; -- nothing"}}, mariadb, "statements: there is nothing to do"},
		{"sql", workloadtest.Block{"statements": []string{"a"}, "file": "a.sql"}, mariadb, "file: statements are given twice"},
		{"sql", workloadtest.Block{"statements": []string{"SELECT 'a"}}, mariadb, "statements: statement 1 cannot be read: line 1: the quote ' has no end"},
		{"sql", workloadtest.Block{"statements": []string{"SELECT 1"}, "expect": map[string]string{"2": "1"}}, mariadb, `expect: there is no statement "2"`},
		{"sql", workloadtest.Block{"statements": []string{"SELECT $$;$$; SELECT 2"}, "expect": map[string]string{"2": "2"}}, postgres, ""},
		{"sql", workloadtest.Block{"statements": []string{"\\d t"}}, postgres, "statements: statement 1 cannot be read: line 1: a backslash begins a command of psql, which is not SQL: leave it out"},
		{"sql", workloadtest.Block{"statements": []string{"SELECT 1"}, "expect": map[string]string{"7": "1"}}, matrix.Build{}, ""},

		{"linkbench", workloadtest.Block{"step": "load", "maxid1": 1e9, "compression": "table", "key_block_size": 4}, mariadb, ""},
		{"linkbench", workloadtest.Block{"step": "load", "engine": "rocksdb", "compression": "table"}, mariadb, "compression: table compression is InnoDB's"},
		{"linkbench", workloadtest.Block{"step": "query", "request_rate": 0, "requests": 0}, mariadb, "requests: 0 is too small"},
		{"linkbench", workloadtest.Block{"step": "query", "request_rate": 0}, mariadb, "request_rate: no rate"},
		{"linkbench", workloadtest.Block{"step": "load", "maxid1": 2147483648, "link_types": 1001, "partitions": 8193}, mariadb, "maxid1: too many; link_types: too many; partitions: too many"},
		{"linkbench", workloadtest.Block{"step": "index", "key_block_size": 8}, mariadb, `late_index: the load has made the index; key_block_size: only compression = "table" has one`},
		{"linkbench", workloadtest.Block{"step": "load", "compression": "table", "key_block_size": 3}, mariadb, "key_block_size: no such page size"},
		{"linkbench", workloadtest.Block{"step": "load", "partitions": 32}, postgres, ""},
		{"linkbench", workloadtest.Block{"step": "load", "engine": "rocksdb", "load_without_binlog": true}, postgres, "engine: PostgreSQL has no storage engines; load_without_binlog: PostgreSQL has no binary log"},
		{"linkbench", workloadtest.Block{"step": "load", "compression": "transparent"}, postgres, "compression: PostgreSQL compresses no pages"},
		{"pgbench", workloadtest.Block{"step": "run", "mode": "prepared", "threads": 2, "clients": 2}, postgres, ""},
		{"pgbench", workloadtest.Block{"step": "run", "threads": 2}, mariadb, "threads: more threads than clients; : pgbench runs against PostgreSQL"},
		{"tpcc", workloadtest.Block{"step": "load", "warehouses": 2, "partitions": 3}, mariadb, "partitions: more partitions than warehouses"},
		{"exec", workloadtest.Block{"command": []string{"true"}}, mariadb, ""},
	} {
		typ := find(t, test.typ)
		var faults []string
		for _, f := range typ.Check(workloadtest.Args(t, typ, test.block), test.build) {
			faults = append(faults, f.Attribute+": "+f.Summary)
			if !strings.HasSuffix(f.Detail, ".") {
				t.Errorf("%s %v: %s: the way out is no sentence: %q", test.typ, test.block, f.Attribute, f.Detail)
			}
			if f.Attribute != "" && typ.Attribute(f.Attribute) == nil {
				t.Errorf("%s %v: there is no attribute %s", test.typ, test.block, f.Attribute)
			}
		}
		if got := strings.Join(faults, "; "); got != test.want {
			t.Errorf("%s %v on %q:\n got %s\nwant %s", test.typ, test.block, test.build.Flavour, got, test.want)
		}
	}
}

func find(t *testing.T, name string) workload.Type {
	t.Helper()
	for _, typ := range types() {
		if typ.Name == name {
			return typ
		}
	}
	t.Fatalf("there is no workload %s", name)
	return workload.Type{}
}

// TestSteps checks what the language asks of a type beside its attributes.
func TestSteps(t *testing.T) {
	ib := insertbench.Type()
	for step, want := range map[string]int{"load": 1, "scan": 5, "query": 1} {
		if got := ib.Steps(workloadtest.Args(t, ib, workloadtest.Block{"step": step})); got != want {
			t.Errorf("insert_benchmark %s has %d steps, want %d", step, got, want)
		}
	}
	sb := sysbench.Type()
	for script, want := range map[string]bool{"fileio": false, "cpu": false, "oltp_read_write": true} {
		if got := sb.Server(workloadtest.Args(t, sb, workloadtest.Block{"script": script})); got != want {
			t.Errorf("sysbench %s needs a server: %v, want %v", script, got, want)
		}
	}
}
