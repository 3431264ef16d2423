package insertbench

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/matrix"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestCreateTable holds the definitions of tables to their golden forms.
func TestCreateTable(t *testing.T) {
	var got bytes.Buffer
	for _, test := range []struct {
		name, flavour string
		block         block
	}{
		{"plain", "mysql", block{}},
		{"MyRocks", "mariadb", block{"engine": "rocksdb", "secondary_indexes": 1}},
		{"compressed", "mysql", block{"compression": "table"}},
		{"compressed to 4 KiB, partitioned", "mariadb", block{"compression": "table", "key_block_size": 4, "partitions": 4, "rows": 1000000, "later_rows": 40000, "tables": 2}},
		{"transparent, MySQL", "mysql", block{"compression": "transparent", "secondary_indexes": 0}},
		{"transparent, MariaDB", "mariadb", block{"compression": "transparent", "secondary_indexes": 0, "partitions": 1}},
	} {
		test.block["step"] = "load"
		c, faults := decode(arguments(t, test.block), matrix.Build{})
		if len(faults) > 0 {
			t.Fatalf("%s: %v", test.name, faults)
		}
		got.WriteString("-- " + test.name + "\n" + c.createTable(1, test.flavour) + ";\n\n")
	}
	golden(t, "tables.sql", got.Bytes())
}

// TestQueries holds the queries to their golden forms.
func TestQueries(t *testing.T) {
	var got bytes.Buffer
	c := config{indexes: 3, rowsPerQuery: 10}
	g := generator{text: newRandomText(1), shape: dataShape{10, 20, 50}}
	g.start(1, streamRead, 0)
	for _, q := range c.rangeQueries("pi1") {
		got.Write(append(q.append(nil, &g), ";\n"...))
	}
	for _, s := range scans {
		got.WriteString(s.statement + ";\n")
	}
	golden(t, "queries.sql", got.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
