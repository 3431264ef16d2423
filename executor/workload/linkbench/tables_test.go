package linkbench

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload/workloadtest"
	"dbmatrix/matrix"
)

var update = flag.Bool("update", false, "write the golden files anew")

type block = workloadtest.Block

func mustDecode(t testing.TB, b block) config {
	t.Helper()
	c, faults := decode(workloadtest.Args(t, Type(), b), matrix.Build{})
	if len(faults) > 0 {
		t.Fatalf("%v: %v", b, faults)
	}
	return c
}

// TestCreate holds the definitions of tables to their golden forms.
func TestCreate(t *testing.T) {
	for _, test := range []struct {
		name, flavour string
		block         block
	}{
		{"p0.c0, original", "mysql", block{"profile": profileFB2011}},
		{"p0.c0, plain index", "mariadb", block{"profile": profileModern, "secondary_index": "plain"}},
		{"p0.c1", "mysql", block{"compression": "table"}},
		{"p1.c0", "mariadb", block{"partitions": 32}},
		{"p1.c1 of 4 KiB", "mariadb", block{"partitions": 32, "compression": "table", "key_block_size": 4}},
		{"transparent", "mysql", block{"compression": "transparent"}},
		{"transparent", "mariadb", block{"compression": "transparent", "partitions": 2}},
		{"MyRocks", "mariadb", block{"engine": "rocksdb"}},
		{"MyRocks p1, index later", "mysql", block{"engine": "rocksdb", "partitions": 32, "late_index": true}},
		{"plain", "postgres", block{"profile": profileModern}},
		{"partitioned, index later", "postgres", block{"partitions": 2, "late_index": true}},
	} {
		test.block["step"] = "load"
		c := mustDecode(t, test.block)
		var got bytes.Buffer
		for _, table := range c.table.tables() {
			for _, statement := range c.table.create(table, test.flavour, !c.lateIndex) {
				got.WriteString(statement + ";\n")
			}
			for _, i := range table.indexes {
				if c.lateIndex {
					got.WriteString("-- later: " + c.table.createIndex(table, i) + ";\n")
				}
			}
		}
		name := strings.NewReplacer(" ", "-", ",", "").Replace(test.flavour + "-" + test.name)
		golden(t, name+".sql", got.Bytes())
	}
}

// TestStatements holds the statements to their golden forms.
func TestStatements(t *testing.T) {
	for _, flavour := range []string{"mysql", "postgres"} {
		s := newStatements(flavour)
		var got strings.Builder
		for _, text := range []string{
			s.addNode, s.updateNode, s.deleteNode, s.getNode, s.countLink, s.linksList, s.multiget,
			s.lockLink, s.insertLink, s.addCount, s.changeLink, s.hideLink, s.changeCount, s.lessCount,
		} {
			got.WriteString(text + ";\n")
		}
		for _, b := range []bulk{s.upsertLink, s.insertLinks, s.loadLinks, s.insertCounts, s.replaceCounts, s.insertNodes} {
			got.WriteString(b.head + "..." + b.tail + ";\n")
		}
		golden(t, flavour+"-statements.sql", []byte(got.String()))
	}
	if newStatements("mariadb") != newStatements("mysql") {
		t.Error("MariaDB has statements of its own")
	}
}

func TestFill(t *testing.T) {
	got := string(fill([]byte("a "), "x = ? AND y = ?)", 1, -2))
	if want := "a x = 1 AND y = -2)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for flavour, want := range map[string]string{
		"mysql":    "INSERT (1, 'a''b\\\\c?\xdc', 2, 3)",
		"postgres": `INSERT (1, '\x6127625c633fdc', 2, 3)`,
	} {
		s := newStatements(flavour)
		if got := string(s.bind(nil, "INSERT (?, ?, ?, ?)", []int64{1}, []byte("a'b\\c?\xdc"), 2, 3)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, want := numbered("a = ? AND b = ?"), "a = $1 AND b = $2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := string(appendIDs([]byte("("), []int64{1, 22})), "(1,22)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
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
