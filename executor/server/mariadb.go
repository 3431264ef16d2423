package server

import (
	"regexp"
	"strings"

	"dbmatrix/matrix"
)

// mariadb returns the flavour of MariaDB, versions 10.5 to 11.8.
func mariadb() Flavour {
	return &mariadbFlavour{family{
		name:     "mariadb",
		binaries: []string{"mariadbd", "mysqld"},
		can: capabilityTable{
			{initByBootstrap, "10.0.0", "", "scripts/mysql_install_db.sh of the server's source"},
			{createIfMissing, "10.1.3", "", "release notes of 10.1.3"},
			{globalPriv, "10.4.1", "", "release notes of 10.4.1"},
			{sysSchema, "10.6.0", "", "release notes of 10.6.0"},
			{warmPool, "10.0.2", "", "MariaDB documentation, innodb_buffer_pool_dump_at_shutdown"},
			{queryCache, "5.1.0", "", "MariaDB documentation, query_cache_type"},
			{oneRedoLog, "10.5.2", "", "release notes of 10.5.2"},
			{undoFiles, "11.0.1", "", "MariaDB documentation, innodb_undo_tablespaces"},
		},
		defaults: []defaultOption{
			{option: toolSwitch("log_bin", false, "off unless set, in every version")},
			{option: toolSwitch("innodb_buffer_pool_dump_at_shutdown", false, "a restart starts cold"), of: warmPool},
			{option: toolSwitch("innodb_buffer_pool_load_at_startup", false, "a restart starts cold"), of: warmPool},
			{option: toolOption("query_cache_type", "0", "a cached answer measures nothing"), of: queryCache},
			{option: toolOption("query_cache_size", "0", "a cached answer measures nothing"), of: queryCache},
			{option: toolSwitch("skip_name_resolve", true, "no name server in the way")},
		},
		aliases: map[string]string{
			"storage_engine":                  "default_storage_engine",
			"tx_isolation":                    "transaction_isolation",
			"tx_read_only":                    "transaction_read_only",
			"log_slow_query":                  "slow_query_log", // names since 10.11.0
			"log_slow_query_file":             "slow_query_log_file",
			"log_slow_query_time":             "long_query_time",
			"log_slow_min_examined_row_limit": "min_examined_row_limit",
		},
		initTime: map[string]bool{
			"innodb_page_size":          true,
			"innodb_data_file_path":     true,
			"innodb_undo_tablespaces":   true, // before 10.11 fixed for good, later cheaper made at once
			"innodb_checksum_algorithm": true, // full_crc32 is a property of the files
			"lower_case_table_names":    true,
			"aria_log_file_size":        true,
		},
	}}
}

// A mariadbFlavour is MariaDB: the family, and how its own answers are read.
type mariadbFlavour struct{ family }

// mariadbWords matches what the server prints for --version, such as
// "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)".
var mariadbWords = regexp.MustCompile(`Ver (?:5\.5\.5-)?(\d+\.\d+\.\d+)(-MariaDB\S*)\s(?:.*\((.*)\))?`)

// Identify implements Flavour.
func (f *mariadbFlavour) Identify(words string) (matrix.Build, bool) {
	m := mariadbWords.FindStringSubmatch(words)
	if m == nil {
		return matrix.Build{}, false
	}
	comment := strings.TrimSpace("MariaDB " + m[3])
	if strings.HasPrefix(m[3], "--") { // an appeal, in some builds of Debian
		comment = "MariaDB"
	}
	return debugBuild(matrix.Build{Flavour: f.name, Version: m[1], Comment: comment}, m[2]), true
}

// debugBuild marks a build whose suffix says that it was compiled to find
// faults: it is many times slower, and no number of it means anything.
func debugBuild(b matrix.Build, suffix string) matrix.Build {
	for _, word := range []string{"-debug", "-asan", "-msan", "-ubsan", "-valgrind"} {
		if strings.Contains(strings.ToLower(suffix), word) {
			b.Absent = "it is a debug build (" + strings.TrimPrefix(suffix, "-") + "), whose numbers mean nothing"
		}
	}
	return b
}
