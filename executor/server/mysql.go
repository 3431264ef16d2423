package server

import (
	"regexp"
	"strings"

	"dbmatrix/matrix"
)

// mysql returns the flavour of MySQL 5.6 to 9.7 and of the builds that follow
// it: Percona Server and Facebook's MySQL.
func mysql() Flavour {
	return &mysqlFlavour{family{
		name:     "mysql",
		binaries: []string{"mysqld"},
		can: capabilityTable{
			{initByScript, "5.6.0", "5.7.6", "MySQL 5.7 reference manual, mysql_install_db"},
			{initByServer, "5.7.6", "", "release notes of 5.7.6"},
			{createIfMissing, "5.7.6", "", "MySQL 5.7 reference manual, CREATE USER"},
			{judgesConfig, "8.0.16", "", "release notes of 8.0.16"},
			{tellsSources, "8.0.3", "", "MySQL 8.0 reference manual, variables_info"},
			{warmPool, "5.6.3", "", "MySQL 5.6 reference manual, innodb_buffer_pool_dump_at_shutdown"},
			{queryCache, "4.0.3", "8.0.3", "release notes of 8.0.3"},
			{undoFiles, "8.0.0", "", "MySQL 8.0 reference manual, innodb_undo_tablespaces"},
			{dictionary, "8.0.20", "", "MySQL 8.0 reference manual, innodb_doublewrite_dir; mysql.ibd is there since 8.0.0"},
			{redoCapacity, "8.0.30", "", "release notes of 8.0.30"},
			{limitsFiles, "5.1.17", "", "MySQL 5.7 reference manual, secure_file_priv"},
			{xProtocol, "8.0.11", "", "MySQL 8.0 reference manual, mysqlx; a plugin that is not loaded before"},
			{persistsOptions, "8.0.0", "", "MySQL 8.0 reference manual, persisted_globals_load"},
		},
		defaults: []defaultOption{
			{option: toolSwitch("log_bin", false, "off unless set, in every version")},
			{option: toolSwitch("innodb_buffer_pool_dump_at_shutdown", false, "a restart starts cold"), of: warmPool},
			{option: toolSwitch("innodb_buffer_pool_load_at_startup", false, "a restart starts cold"), of: warmPool},
			{option: toolOption("query_cache_type", "0", "a cached answer measures nothing"), of: queryCache},
			{option: toolOption("query_cache_size", "0", "a cached answer measures nothing"), of: queryCache},
			{option: toolSwitch("skip_name_resolve", true, "no name server in the way")},
			{option: toolOption("secure_file_priv", "", "the folder compiled in need not exist"), of: limitsFiles},
			{option: toolSwitch("mysqlx", false, "it would open a port"), of: xProtocol},
			{option: toolSwitch("persisted_globals_load", false, "this file is the only source of options"), of: persistsOptions},
		},
		aliases: map[string]string{
			"storage_engine": "default_storage_engine",
			"tx_isolation":   "transaction_isolation",
			"tx_read_only":   "transaction_read_only",
		},
		initTime: map[string]bool{
			"innodb_page_size":        true,
			"innodb_data_file_path":   true,
			"innodb_undo_tablespaces": true, // before 8.0.14 fixed for good
			"lower_case_table_names":  true, // since 8.0 stored in the dictionary
			"innodb_log_block_size":   true, // of Percona Server 5.6
		},
	}}
}

// A mysqlFlavour is MySQL: the family, and how its own answers are read.
type mysqlFlavour struct{ family }

// mysqlWords matches what the server prints for --version, such as
// "/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)".
var mysqlWords = regexp.MustCompile(`Ver (\d+\.\d+\.\d+)(\S*)\s(?:.*?\((.*)\))?`)

// Identify implements Flavour. MariaDB prints the same form with its own name in
// the version, and is asked before.
func (f *mysqlFlavour) Identify(words string) (matrix.Build, bool) {
	m := mysqlWords.FindStringSubmatch(words)
	if m == nil || strings.Contains(words, "MariaDB") {
		return matrix.Build{}, false
	}
	comment := m[3]
	if strings.HasPrefix(comment, "(") { // Debian's, twice in brackets
		comment = strings.TrimSuffix(comment[1:], ")")
	}
	if !strings.Contains(comment, "MySQL") && !strings.Contains(comment, "Percona") {
		comment = strings.TrimSpace("MySQL " + strings.TrimPrefix(m[2], "-") + " " + comment)
	}
	return debugBuild(matrix.Build{Flavour: f.name, Version: m[1], Comment: comment}, m[2]), true
}
