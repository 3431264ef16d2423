package matrix

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files writes files into a new directory and returns it.
func files(t testing.TB, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const rowsVariable = `
variable "rows" { default = 1 }
defaults { server = server.inno }
phase "load" {
  workload "bench" {
    step = "load"
    rows = var.rows
  }
}
`

func TestVariablePrecedence(t *testing.T) {
	const servers = "server \"inno\" { mysqld = \"/opt/mariadb/mysqld\" }\n"
	dir := files(t, map[string]string{
		"exp/experiment.hcl": rowsVariable,
		"plain.hcl":          servers,
		"machine.hcl":        servers + "variables = { rows = 2, unknown = 3 }\n",
		"a.vars":             "rows = 3\n",
		"b.vars":             "rows = \"4\"\n",
	})
	path := func(name string) string { return filepath.Join(dir, name) }
	tests := []struct {
		name     string
		machine  string
		varFiles []string
		vars     []VarValue
		want     string
	}{
		{"the default", "plain.hcl", nil, nil, "1"},
		{"the machine's over the default", "machine.hcl", nil, nil, "2"},
		{"a file's over the machine's", "machine.hcl", []string{path("a.vars")}, nil, "3"},
		{"the later file's, converted to the type", "machine.hcl", []string{path("a.vars"), path("b.vars")}, nil, "4"},
		{"--var over all", "machine.hcl", []string{path("a.vars")}, []VarValue{{"rows", "5"}}, "5"},
		{"the last --var", "machine.hcl", nil, []VarValue{{"rows", "5"}, {"rows", "6"}}, "6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions(path("exp"))
			o.Machine, o.VarFiles, o.Vars = path(tt.machine), tt.varFiles, tt.vars
			e, _, diags := Load(context.Background(), o)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			cells, diags := e.Expand()
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if got := look(cells, "", "load", "rows"); got != tt.want {
				t.Errorf("rows are %s, want %s", got, tt.want)
			}
		})
	}
}

// TestVarTypes tests how the text of --var is read.
func TestVarTypes(t *testing.T) {
	tests := []struct{ declared, text, want string }{
		{`default = 1`, "7", "7"},
		{`default = 1`, "2e3", "2000"},
		{`default = "a"`, "7", `"7"`},
		{`default = "a"`, "null", `"null"`},
		{`default = true`, "false", "false"},
		{`type = number`, "7", "7"},
		{`type = list(number)`, "[1, 2]", "[1, 2]"},
		{`default = ["a"]`, `["b"]`, `["b"]`},
		{`type = any`, `{ a = 1 }`, "{a = 1}"},
		{`type = bool`, `null`, "null"},
		{`description = "no type at all"`, "7", `"7"`},
	}
	for _, tt := range tests {
		t.Run(tt.declared+" "+tt.text, func(t *testing.T) {
			src := fmt.Sprintf("variable \"v\" { %s }\ndefaults { server = server.inno }\nphase \"load\" {\n  when = var.v == null || true\n  workload \"bench\" { step = \"load\" }\n}\n", tt.declared)
			e, _ := expandText(t, src, func(o *LoadOptions) { o.Vars = []VarValue{{"v", tt.text}} })
			if got := show(e.decoder.variables["v"].value); got != tt.want {
				t.Errorf("var.v is %s, want %s", got, tt.want)
			}
		})
	}
}

// TestBadVariables tests what is told of values from outside that do not fit.
func TestBadVariables(t *testing.T) {
	dir := files(t, map[string]string{
		"wrong.vars":   "rows = \"many\"\n",
		"unknown.vars": "rwos = 1\n",
		"broken.vars":  "rows = \n",
		"read.vars":    "rows = var.rows\n",
		"machine.hcl":  "server \"inno\" { mysqld = \"/opt/mariadb/mysqld\" }\nvariables = { rows = \"many\" }\n",
		"list.hcl":     "server \"inno\" { mysqld = \"/opt/mariadb/mysqld\" }\nvariables = [1]\n",
	})
	path := func(name string) string { return filepath.Join(dir, name) }
	valid := strings.Replace(rowsVariable, "{ default = 1 }", `{
  default = 1
  validation {
    condition     = var.rows < 100
    error_message = "At most 99 rows."
  }
}`, 1)
	tests := []struct {
		name   string
		hcl    string
		change func(*LoadOptions)
		want   string
	}{
		{"unknown --var", rowsVariable, func(o *LoadOptions) { o.Vars = []VarValue{{"rwos", "1"}} },
			`Wrong --var rwos; The experiment declares no variable "rwos". Did you mean rows?`},
		{"--var of the wrong type", rowsVariable, func(o *LoadOptions) { o.Vars = []VarValue{{"rows", "many"}} },
			`Wrong --var rows; "many" is no value of its type, number: a number is required.`},
		{"--var that does not parse", strings.Replace(rowsVariable, "default = 1", "type = list(number)", 1),
			func(o *LoadOptions) { o.Vars = []VarValue{{"rows", "[1,"}} }, `Wrong --var rows; "[1," cannot be read as a value of type list(number)`},
		{"--var-file of the wrong type", rowsVariable, func(o *LoadOptions) { o.VarFiles = []string{path("wrong.vars")} },
			`wrong.vars:1,8-14: Wrong value; The variable "rows" is of type number: a number is required.`},
		{"--var-file with an unknown name", rowsVariable, func(o *LoadOptions) { o.VarFiles = []string{path("unknown.vars")} },
			`unknown.vars:1,1-5: Unknown variable; The experiment declares no variable "rwos". Did you mean rows?`},
		{"--var-file that does not parse", rowsVariable, func(o *LoadOptions) { o.VarFiles = []string{path("broken.vars")} },
			`broken.vars:1,8-2,1: Invalid expression`},
		{"--var-file that reads a name", rowsVariable, func(o *LoadOptions) { o.VarFiles = []string{path("read.vars")} },
			`read.vars:1,8-16: Name not known here; A value in a variables file is a plain value`},
		{"no such --var-file", rowsVariable, func(o *LoadOptions) { o.VarFiles = []string{path("none.vars")} },
			`none.vars: no such file or directory`},
		{"the machine's value of the wrong type", rowsVariable, func(o *LoadOptions) { o.Machine = path("machine.hcl") },
			`machine.hcl:2,13-30: Wrong value; The variable "rows" is of type number`},
		{"the machine's variables are no object", rowsVariable, func(o *LoadOptions) { o.Machine = path("list.hcl") },
			`list.hcl:2,13-16: Wrong value; variables must be an object`},
		{"no such machine file", rowsVariable, func(o *LoadOptions) { o.Machine = path("none.hcl") },
			`none.hcl: no such file or directory`},
		{"a value that is not valid", valid, func(o *LoadOptions) { o.Vars = []VarValue{{"rows", "100"}} },
			`Invalid variable; The variable "rows" is 100: At most 99 rows.`},
		{"a default that reads another variable", "variable \"n\" { default = var.rows }\n" + rowsVariable, func(*LoadOptions) {},
			`Name not known here; The default of a variable is a plain value`},
		{"a validation that is no condition", strings.Replace(valid, "var.rows < 100", "var.rows", 1), func(*LoadOptions) {},
			`Wrong value; condition must be true or false`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := loadText(t, tt.hcl, tt.change)
			if len(diags) != 1 || !diags.HasErrors() || !strings.Contains(diags[0].Error(), tt.want) {
				t.Errorf("diagnostics %v, want one that says %s", diags, tt.want)
			}
		})
	}
}

func TestMachineFiles(t *testing.T) {
	const exp = `
server "x" { min_version = "10.5" }
storage "scratch" {}
defaults {
  server  = server.x
  storage = storage.scratch
}` + loadPhase
	tests := []struct {
		name    string
		files   map[string]string // beside those of the experiment in top/exp
		machine string
		want    []string // the program of server x, the option a, the storage scratch, the data directory, notify
	}{
		{"none", nil, "", []string{"", "-", "", "top/exp/.dbmatrix", "[]"}},
		{"beside the experiment", map[string]string{"top/exp/machine.hcl": `
server "x" { mysqld = "bin/mysqld" }
storage "scratch" { dir = "s" }`}, "", []string{"top/exp/bin/mysqld", "-", "top/exp/s", "top/exp/.dbmatrix", "[]"}},
		{"above it, with a place for data", map[string]string{"machine.hcl": `
data_dir = "data"
notify   = ["bin/tell", "x"]
server "x" {
  mysqld = "bin/mysqld"
  my_cnf = { a = 1 }
}
storage "scratch" { dir = "/s" }`}, "", []string{"bin/mysqld", "1", "/s", "data", "[bin/tell x]"}},
		{"the nearest one", map[string]string{
			"machine.hcl":     `server "x" { mysqld = "far" }`,
			"top/machine.hcl": `server "x" { mysqld = "near" }`,
		}, "", []string{"top/near", "-", "", "top/exp/.dbmatrix", "[]"}},
		{"the one that is named", map[string]string{
			"machine.hcl": `server "x" { mysqld = "found" }`,
			"other.hcl":   `server "x" { mysqld = "named" }`,
		}, "other.hcl", []string{"named", "-", "", "top/exp/.dbmatrix", "[]"}},
		{"unpacked servers, under the user's own", map[string]string{
			".servers/machine.hcl": "server \"x\" { mysqld = \"unpacked\" }\nstorage \"scratch\" { dir = \"t\" }\ndata_dir = \"d\"",
			"machine.hcl":          `server "x" { mysqld = "own" }`,
		}, "", []string{"own", "-", ".servers/t", ".servers/d", "[]"}},
		{"unpacked servers alone", map[string]string{
			".servers/machine.hcl": `server "x" { mysqld = "unpacked" }`,
		}, "", []string{".servers/unpacked", "-", "", "top/exp/.dbmatrix", "[]"}},
		{"unpacked servers beside a named machine file", map[string]string{
			".servers/machine.hcl": `server "x" { mysqld = "unpacked" }`,
			"other.hcl":            `data_dir = "d"`,
		}, "other.hcl", []string{".servers/unpacked", "-", "", "d", "[]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := map[string]string{"top/exp/experiment.hcl": exp}
			for name, text := range tt.files {
				all[name] = text
			}
			dir := files(t, all)
			o := testOptions(filepath.Join(dir, "top/exp"))
			o.Machine = ""
			if tt.machine != "" {
				o.Machine = filepath.Join(dir, tt.machine)
			}
			e, _, diags := Load(context.Background(), o)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			cells, diags := e.Expand()
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			s := cells[0].Phases[0].Settings
			got := []string{s.Server.Mysqld, lookPhase(cells[0].Phases[0], "my_cnf.a"), s.Storage["data"].Dir, e.DataDir, strings.ReplaceAll(fmt.Sprint(e.Notify), dir+"/", "")}
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], dir+"/")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("of the machine (-want +got):\n%s", diff)
			}
		})
	}
}

// TestServers tests what a build says against what is declared of it.
func TestServers(t *testing.T) {
	found := func(o *LoadOptions) {
		o.Found = []*Server{{Name: "mariadb", Mysqld: "/opt/mariadb/mysqld"}}
	}
	tests := []struct {
		name, server, declared string
		want                   string // flavour version, or why it is absent
	}{
		{"of the machine file", "inno", "", "mariadb 10.11.19"},
		{"found on this host", "mariadb", "", "mariadb 10.11.19"},
		{"new enough", "inno", `server "inno" { min_version = "10.11" }`, "mariadb 10.11.19"},
		{"too old", "inno", `server "inno" { min_version = "11.4" }`, "it is version 10.11.19 here, and the experiment needs 11.4 or later"},
		{"of the same family", "inno", `server "inno" { flavour = "mysql" }`, "mariadb 10.11.19"},
		{"declared alone", "elsewhere", `server "elsewhere" { flavour = "mysql" }`, "no machine file names it"},
		{"declared, and its program is gone", "missing", `server "missing" { min_version = "8.0" }`, "no such program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := tt.declared + "\ndefaults { server = server." + tt.server + " }" + loadPhase
			_, cells := expandText(t, src, found)
			b := cells[0].Phases[0].Settings.Server.Build
			got := b.Flavour + " " + b.Version
			if b.Absent != "" {
				got = b.Absent
			}
			if got != tt.want {
				t.Errorf("the build is %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHead tests the experiment block and its defaults.
func TestHead(t *testing.T) {
	type head struct {
		Name, Title, Description, Source string
		Replicates                       int
		Order                            Order
		Seed                             int64
		Cooldown                         string
		Max                              int
	}
	tests := []struct {
		name, hcl string
		want      head
	}{
		{"defaults", ``, head{"test", "", "", "", 1, Interleaved, 1, "0s", 3}},
		{"all", `
experiment {
  name                     = "other"
  title                    = "A title"
  description              = "What it is for."
  source                   = "a page"
  replicates               = 2 + 1
  order                    = "shuffled"
  seed                     = 42
  cooldown                 = "1m30s"
  max_consecutive_failures = 7
}`, head{"other", "A title", "What it is for.", "a page", 3, Shuffled, 42, "1m30s", 7}},
		{"null is as if it were not written", `
experiment {
  title      = null
  replicates = null
}`, head{"test", "", "", "", 1, Interleaved, 1, "0s", 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, diags := loadText(t, tt.hcl+"\ndefaults { server = server.inno }"+loadPhase)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			got := head{e.Name, e.Title, e.Description, e.Source, e.Replicates, e.Order, e.Seed, e.Cooldown.String(), e.MaxConsecutiveFailures}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("head (-want +got):\n%s", diff)
			}
		})
	}
}
