package insertbench

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
		{"PostgreSQL", "postgres", block{}},
		{"PostgreSQL, partitioned", "postgres", block{"partitions": 4, "rows": 1000000, "later_rows": 40000, "tables": 2, "secondary_indexes": 1}},
	} {
		test.block["step"] = "load"
		c, faults := decode(arguments(t, test.block), matrix.Build{Flavour: test.flavour})
		if len(faults) > 0 {
			t.Fatalf("%s: %v", test.name, faults)
		}
		got.WriteString("-- " + test.name + "\n" + strings.Join(c.createTable(1, test.flavour), ";\n") + ";\n\n")
	}
	golden(t, "tables.sql", got.Bytes())
}

// TestQueries holds the queries to their golden forms.
func TestQueries(t *testing.T) {
	var got bytes.Buffer
	for _, c := range []config{{indexes: 3, rowsPerQuery: 10}, {indexes: 3, rowsPerQuery: 10, postgres: true}} {
		g := generator{text: newRandomText(1), shape: dataShape{10, 20, 50}}
		g.start(1, streamRead, 0)
		for _, q := range c.rangeQueries("pi1") {
			showQuery(&got, &c, q, &g)
		}
		for _, s := range scans {
			got.WriteString(c.statement(s, "pi1") + ";\n")
		}
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

// showQuery writes a query as the server gets it.
func showQuery(out *bytes.Buffer, c *config, q query, g *generator) {
	q.draw(g)
	out.Write(append(q.append(nil), ";\n"...))
	if !c.postgres {
		return
	}
	out.WriteString("-- " + q.prepared() + " with")
	for _, arg := range q.arguments() {
		switch v := arg.(type) {
		case *int64:
			fmt.Fprintf(out, " %d", *v)
		case *float64:
			fmt.Fprintf(out, " %g", *v)
		}
	}
	out.WriteString("\n")
}
