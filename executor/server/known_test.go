package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbmatrix/matrix"
)

// knownOptions returns the options that builds know by their own --verbose
// --help (PostgreSQL: --describe-config), by flavour and version, such as
// mariadb-10.5.23. Only their names are recorded.
func knownOptions(t *testing.T) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob("testdata/known/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no options are recorded: %v", err)
	}
	all := map[string]map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, name := range strings.Fields(string(text)) {
			names[name] = true
		}
		all[strings.TrimSuffix(filepath.Base(file), ".txt")] = names
	}
	return all
}

// Whatever dbmatrix itself writes into an option file, the build knows: else it
// would not start.
func TestOwnOptionsAreKnown(t *testing.T) {
	on := levelOption("log_bin", matrix.OptionValue{Kind: matrix.OptionBool, Bool: true})
	roles := map[string]string{roleRedo: "/redo", roleBinlog: "/binlog", roleTmp: "/tmp"}
	for of, names := range knownOptions(t) {
		flavour, version, _ := strings.Cut(of, "-")
		f, err := FlavourOf(flavour)
		if err != nil {
			t.Fatal(err)
		}
		s := build(flavour, version, "/x/bin/server")
		s.Basedir = "/x"
		options := []matrix.Option{on}
		if names["rocksdb_wal_dir"] {
			options = append(options, textOption("rocksdb_block_cache_size", "1G"))
		}
		for _, p := range []placement{
			{layout: Layout{Dir: "/d"}, server: &s, sockets: "/s"},
			{layout: Layout{Dir: "/d", Roles: roles}, server: &s, options: options, sockets: "/s", port: 3307},
		} {
			fixed, defaults := f.own(p)
			for _, o := range append(fixed, defaults...) {
				if !names[o.Name] {
					t.Errorf("%s does not know %s (%s)", of, o.Name, originText(o.Origins[0]))
				}
			}
		}
	}
}

// What a capability says of an option, the builds of that version say too.
func TestCapabilitiesAsRecorded(t *testing.T) {
	options := map[feature]string{
		warmPool: "innodb_buffer_pool_dump_at_shutdown", queryCache: "query_cache_type",
		xProtocol: "mysqlx", persistsOptions: "persisted_globals_load", judgesConfig: "validate_config", limitsFiles: "secure_file_priv",
	}
	tables := map[string]capabilityTable{"mariadb": mariadb().(*mariadbFlavour).can, "mysql": mysql().(*mysqlFlavour).can}
	for of, names := range knownOptions(t) {
		flavour, version, _ := strings.Cut(of, "-")
		for _, c := range tables[flavour] {
			if option, ok := options[c.feature]; ok && tables[flavour].has(c.feature, version) != names[option] {
				t.Errorf("%s: the table says %v of %q, and the build %v of %s", of, !names[option], c.feature, names[option], option)
			}
		}
	}
}

// Names that dbmatrix folds others into, composites and lists are options of some
// build: a misspelt one would do nothing.
func TestTablesNameOptions(t *testing.T) {
	known := map[string]map[string]bool{}
	for of, names := range knownOptions(t) {
		flavour, _, _ := strings.Cut(of, "-")
		if known[flavour] == nil {
			known[flavour] = map[string]bool{}
		}
		for n := range names {
			known[flavour][n] = true
		}
	}
	for _, f := range Flavours() {
		d := f.Dialect()
		for from, to := range d.Aliases {
			if !known[d.Flavour][to] {
				t.Errorf("%s: %s stands for %s, which no build knows", d.Flavour, from, to)
			}
		}
	}
}

// The table has what dbmatrix needs of each version that it speaks of, also of
// those that cannot be had for these tests.
func TestCapabilityOfVersions(t *testing.T) {
	tests := []struct {
		flavour, version string
		has, lacks       []feature
	}{
		{"mysql", "5.6.51", []feature{initByScript, queryCache, warmPool, limitsFiles}, []feature{initByServer, createIfMissing, judgesConfig, tellsSources, xProtocol, persistsOptions}},
		{"mysql", "5.7.44", []feature{initByServer, queryCache, createIfMissing}, []feature{initByScript, judgesConfig, tellsSources, xProtocol, persistsOptions}},
		{"mysql", "8.0.11", []feature{initByServer, xProtocol, persistsOptions, tellsSources}, []feature{queryCache, judgesConfig}},
		{"mysql", "8.0.36", []feature{initByServer, xProtocol, judgesConfig}, []feature{queryCache}},
		{"mysql", "8.4.3", []feature{initByServer, xProtocol, judgesConfig}, []feature{queryCache}},
		{"mysql", "9.7.4", []feature{initByServer, xProtocol, judgesConfig}, []feature{queryCache}},
		{"mariadb", "10.5.23", []feature{initByBootstrap, queryCache, globalPriv, createIfMissing}, []feature{sysSchema, judgesConfig, initByServer}},
		{"mariadb", "10.11.19", []feature{initByBootstrap, queryCache, globalPriv, sysSchema}, []feature{judgesConfig}},
		{"mariadb", "11.8.9", []feature{initByBootstrap, queryCache, globalPriv, sysSchema}, []feature{judgesConfig}},
		{"postgres", "13.9.0", nil, []feature{noInstructions, checksumsUnlessTold}},
		{"postgres", "15.18.0", []feature{noInstructions}, []feature{checksumsUnlessTold}},
		{"postgres", "17.12.0", []feature{noInstructions}, []feature{checksumsUnlessTold}},
		{"postgres", "18.0.0", []feature{noInstructions, checksumsUnlessTold}, nil},
	}
	tables := map[string]capabilityTable{
		"mariadb": mariadb().(*mariadbFlavour).can, "mysql": mysql().(*mysqlFlavour).can, "postgres": postgres().(*postgresFlavour).can,
	}
	for _, tt := range tests {
		for _, f := range tt.has {
			if !tables[tt.flavour].has(f, tt.version) {
				t.Errorf("%s %s lacks %q", tt.flavour, tt.version, f)
			}
		}
		for _, f := range tt.lacks {
			if tables[tt.flavour].has(f, tt.version) {
				t.Errorf("%s %s has %q", tt.flavour, tt.version, f)
			}
		}
	}
	for flavour, table := range tables {
		for _, c := range table {
			if c.source == "" {
				t.Errorf("%s: nothing says where %q is from", flavour, c.feature)
			}
		}
	}
}
