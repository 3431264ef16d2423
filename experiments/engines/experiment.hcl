# One client program, five server builds: sysbench drives MariaDB 10.11 and 11.8,
# MySQL 9.7 and MyRocks through its mysql driver, and PostgreSQL 15 through its
# pgsql driver. Twelve cells: six configurations, with one client and with four.
#
#     make servers
#     dbmatrix run experiments/engines
#     dbmatrix report experiments/engines --format text
#
# The load does not depend on the number of clients, so each configuration is
# loaded once and both of its cells go on from a copy.
experiment {
  title = "sysbench on five builds: InnoDB, MyRocks and PostgreSQL"
}

variable "tables" { default = 4 }

variable "table_size" {
  description = "rows of each table"
  default     = 25000
}

variable "seconds" {
  description = "how long each test runs"
  default     = 5
}

variable "memory_mb" {
  description = "buffer pool, block cache or shared buffers"
  default     = 64
}

# What the experiment needs; where the builds are is the machine file's business.
server "mariadb1011" {
  flavour     = "mariadb"
  min_version = "10.11"
}

server "myrocks1011" {
  flavour     = "mariadb"
  min_version = "10.11"
}

server "mariadb118" {
  flavour     = "mariadb"
  min_version = "11.8"
}

server "mysql97" {
  flavour     = "mysql"
  min_version = "9.7"
}

server "pg15" {
  flavour     = "postgres"
  min_version = "15"
}

# A commit does not wait for the device in any of them: the log is synced about
# once a second.
defaults {
  my_cnf = {
    skip_log_bin                   = true
    innodb_flush_log_at_trx_commit = 2
    innodb_buffer_pool_size        = "${var.memory_mb}M"

    # The redo log's size has one name in MariaDB and another in MySQL.
    innodb_log_file_size     = build.flavour == "mariadb" ? "256M" : null
    innodb_redo_log_capacity = build.flavour == "mysql" ? "256M" : null

    # A build without MyRocks refuses these: null leaves them out.
    rocksdb_flush_log_at_trx_commit = param.engine == "rocksdb" ? 2 : null
    rocksdb_block_cache_size        = param.engine == "rocksdb" ? "${var.memory_mb}M" : null
  }
  postgresql_conf = {
    synchronous_commit = false
    shared_buffers     = "${var.memory_mb}MB"
    max_wal_size       = "1GB" # no checkpoint for want of log
  }
}

axis "engine" {
  level "inno.1011" {
    description = "InnoDB of MariaDB 10.11"
    server      = server.mariadb1011
    params      = { engine = "innodb" }
  }
  level "inno.118" {
    description = "InnoDB of MariaDB 11.8"
    server      = server.mariadb118
    params      = { engine = "innodb" }
  }
  level "inno.97" {
    description = "InnoDB of MySQL 9.7"
    server      = server.mysql97
    params      = { engine = "innodb" }
  }
  level "myrocks.none" {
    description = "MyRocks of MariaDB 10.11, not compressed"
    server      = server.myrocks1011
    params      = { engine = "rocksdb" }
    my_cnf      = { rocksdb_default_cf_options = { compression_per_level = "kNoCompression" } }
  }
  level "myrocks.zstd" {
    description = "MyRocks of MariaDB 10.11, compressed by zstd"
    server      = server.myrocks1011
    params      = { engine = "rocksdb" }
    my_cnf      = { rocksdb_default_cf_options = { compression_per_level = "kZSTDNotFinalCompression" } }
  }
  level "pg15" {
    description = "PostgreSQL 15"
    server      = server.pg15
    params      = { engine = null }
  }
}

axis "clients" {
  level "1" { params = { clients = 1 } }
  level "4" { params = { clients = 4 } }
}

phase "load" {
  snapshot = true
  workload "sysbench" {
    step       = "prepare"
    script     = "oltp_read_write"
    tables     = var.tables
    table_size = var.table_size
    engine     = param.engine
  }
}

# Reads first: they find the tables as the load left them.
phase "point" {
  warmup = "1s"
  workload "sysbench" {
    step    = "run"
    script  = "oltp_point_select"
    threads = param.clients
    seconds = var.seconds
    options = { rand-type = "uniform" }
  }
}

phase "range" {
  workload "sysbench" {
    step   = "run"
    script = "oltp_read_only"
  }
}

phase "write" {
  workload "sysbench" {
    step   = "run"
    script = "oltp_write_only"
  }
}

phase "mixed" {
  workload "sysbench" {
    step   = "run"
    script = "oltp_read_write"
  }
}

table "engines" {
  title    = "Queries and transactions a second"
  rows     = ["clients", "engine"]
  group_by = ["clients"]

  column "point qps" {
    of      = "qps"
    phase   = "point"
    heading = ["point", "qps"]
  }
  column "point Mcpu/q" {
    of      = "Mcpu/q"
    phase   = "point"
    heading = ["point", "Mcpu/q"]
  }
  column "range qps" {
    of      = "qps"
    phase   = "range"
    heading = ["range", "qps"]
  }
  column "write tps" {
    of      = "tps"
    phase   = "write"
    heading = ["write", "tps"]
  }
  column "mixed tps" {
    of      = "tps"
    phase   = "mixed"
    heading = ["mixed", "tps"]
  }
  column "mixed Mcpu/t" {
    of      = "Mcpu/t"
    phase   = "mixed"
    heading = ["mixed", "Mcpu/t"]
  }
  column "load data" {
    of      = "size.data"
    phase   = "load"
    format  = "%.3f"
    heading = ["load", "data"]
  }
  column "rss" {
    of      = "rss"
    phase   = "mixed"
    heading = ["mixed", "rss"]
  }

  label {
    heading = "engine"
    text    = "${label.engine}.x${label.clients}"
  }
}
