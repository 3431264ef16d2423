package servertest

import (
	"strings"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"
)

// A profile says by which options and statements the suite tests a flavour.
type profile struct {
	// plain are options of every kind that end as verified, on top of which
	// inForce has one of each other outcome.
	plain   []matrix.Option
	inForce []outcome

	misspelt matrix.Option // a value that the server refuses, so that it does not start
	unknown  matrix.Option // a name that the server does not know
	plugin   matrix.Option // loads a plugin that is not there
	loose    matrix.Option // a name that the server does not know and starts with all the same

	// anyName begins the names of options that take any text.
	anyName string

	// ignored is the verdict that loose gets.
	ignored server.Verdict

	// persist sets option before in the data directory itself, to another
	// value; persisted is the verdict that it gets then.
	persist   string
	persisted server.Verdict

	before, after matrix.Option // one option with two values, for a restart
	show          string        // a query for it
	shown         [2]string     // its answers

	schema, write, read string // statements: make a table, write a row, count rows

	pathLimit int // the longest data directory that the server takes, in bytes
}

// An outcome is an option with the verdict that it must get.
type outcome struct {
	option  matrix.Option
	verdict server.Verdict
	granule bool
}

// profileOf returns the profile of a build, with or without MyRocks.
func profileOf(build Build) profile {
	b := build.Server.Build
	if b.Flavour == "postgres" {
		return postgresProfile()
	}
	p := mysqlProfile()
	if build.Engine() == "MyRocks" {
		p.schema = strings.ReplaceAll(p.schema, "InnoDB", "ROCKSDB")
		p.plain = append(p.plain,
			Parts("rocksdb_default_cf_options", "compression", "kZSTD", "bottommost_compression", "kZSTD",
				"write_buffer_size", "8m", "level_compaction_dynamic_level_bytes", "true",
				"block_based_table_factory", "{block_size=16k}"),
			Switch("rocksdb_use_direct_reads", true),
			Text("rocksdb_block_cache_size", "64M"))
	}
	if b.Flavour == "mariadb" {
		p.plain = append(p.plain, Text("query_cache_size", "0"), Text("aria_pagecache_buffer_size", "32M"))
		p.inForce = append(p.inForce,
			outcome{Text("innodb_buffer_pool_instances", "8"), server.Contradicted, false},
			outcome{Text("innodb_io_capacity", "1"), server.Adjusted, false},
		)
	} else {
		p.plain = append(p.plain, Text("innodb_redo_log_capacity", "128M"), Switch("mysqlx", false))
		p.inForce = append(p.inForce, outcome{Text("innodb_buffer_pool_size", "200M"), server.Adjusted, true})
	}
	return p
}

// mysqlProfile is what MySQL and MariaDB have in common.
func mysqlProfile() profile {
	loose := Text("no_such_option", "1")
	loose.Loose = true
	return profile{
		plain: []matrix.Option{
			Text("innodb_flush_log_at_trx_commit", "2"),
			Text("innodb_flush_method", "O_DIRECT"),
			Text("innodb_log_buffer_size", "8M"),
			Switch("innodb_file_per_table", true),
			Switch("innodb_adaptive_hash_index", true),
			Switch("log_bin", false),
			Text("long_query_time", "1.5"),
			Text("sql_mode", "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"),
			Text("transaction_isolation", "READ-COMMITTED"),
			Parts("optimizer_switch", "mrr", "on", "index_merge", "off"),
			Text("character_set_server", "utf8mb4"),
		},
		inForce: []outcome{
			{Text("table_open_cache", "1000000"), server.Adjusted, false},
			{Text("max_allowed_packet", "1048577"), server.Adjusted, true},
			{Switch("skip_stack_trace", true), server.Unverifiable, false},
		},
		misspelt:  Text("innodb_flush_method", "O_DIRET"),
		unknown:   Text("innodb_no_such_option", "1"),
		plugin:    Text("plugin_load_add", "no_such_plugin"),
		loose:     loose,
		anyName:   "dbmatrix_",
		pathLimit: 400,
		ignored:   server.Contradicted,
		persist:   "SET PERSIST innodb_io_capacity = 500",
		persisted: server.Verified, // such settings are not loaded
		before:    Text("innodb_io_capacity", "300"),
		after:     Text("innodb_io_capacity", "700"),
		show:      "SELECT @@innodb_io_capacity",
		shown:     [2]string{"300", "700"},
		schema:    "CREATE TABLE test.t (id INT PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB",
		write:     "INSERT INTO test.t VALUES (%d, 'x')",
		read:      "SELECT COUNT(*) FROM test.t",
	}
}

// postgresProfile is that of PostgreSQL.
func postgresProfile() profile {
	return profile{
		plain: []matrix.Option{
			Text("shared_buffers", "32MB"),
			Text("checkpoint_timeout", "20min"),
			Switch("full_page_writes", false),
			Switch("enable_seqscan", false),
			Text("random_page_cost", "1.1"),
			Text("wal_compression", "lz4"),
			Text("application_name", "it's a #test"),
		},
		inForce: []outcome{
			{Text("wal_buffers", "100kB"), server.Adjusted, true}, // whole pages of 8 kB
			{Text("datestyle", "ISO"), server.Adjusted, false},    // is "ISO, MDY"
			{Text("no_such_library.option", "1"), server.Unverifiable, false},
		},
		misspelt:  Text("wal_level", "logicall"),
		unknown:   Text("no_such_option", "1"),
		plugin:    Text("shared_preload_libraries", "no_such_library"),
		anyName:   "dbmatrix.v",
		pathLimit: 900,
		loose:     Text("no_such_library.option", "1"), // a name with a point may belong to a library that is not loaded yet
		ignored:   server.Unverifiable,
		persist:   "ALTER SYSTEM SET work_mem = '9MB'",
		persisted: server.Contradicted,
		before:    Text("work_mem", "5MB"),
		after:     Text("work_mem", "7MB"),
		show:      "SHOW work_mem",
		shown:     [2]string{"5MB", "7MB"},
		schema:    "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100))",
		write:     "INSERT INTO t VALUES (%d, 'x')",
		read:      "SELECT COUNT(*) FROM t",
	}
}
