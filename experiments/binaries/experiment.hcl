# One question to several server builds: what does compression change about
# loading, querying, size and dropping, in MariaDB 10.11 and 11.8 and MySQL 9.7?
experiment {
  title = "Insert benchmark: three server builds, InnoDB and MyRocks, compression"
}

variable "rows" {
  description = "rows that the load inserts, all tables together"
  default     = 100000
}

variable "seconds" {
  description = "how long the queries run"
  default     = 4
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

server "myrocks118" {
  flavour     = "mariadb"
  min_version = "11.8"
}

server "mysql97" {
  flavour     = "mysql"
  min_version = "9.7"
}

defaults {
  my_cnf = {
    skip_log_bin                   = true
    innodb_flush_log_at_trx_commit = 2
    innodb_buffer_pool_size        = "24M"

    # The redo log's size has one name in MariaDB and another in MySQL.
    innodb_log_file_size     = build.flavour == "mariadb" ? "64M" : null
    innodb_redo_log_capacity = build.flavour == "mysql" ? "64M" : null

    # A build without MyRocks refuses these: null leaves them out.
    rocksdb_flush_log_at_trx_commit = param.engine == "rocksdb" ? 2 : null
    rocksdb_block_cache_size        = param.engine == "rocksdb" ? "24M" : null
    rocksdb_default_cf_options      = { write_buffer_size = param.engine == "rocksdb" ? "4m" : null }
  }
}

axis "binary" {
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
  level "myrocks.1011" {
    description = "MyRocks of MariaDB 10.11"
    server      = server.myrocks1011
    params      = { engine = "rocksdb" }
  }
  level "myrocks.118" {
    description = "MyRocks of MariaDB 11.8"
    server      = server.myrocks118
    params      = { engine = "rocksdb" }
  }
}

# MyRocks compresses by an option of the server, InnoDB by one of the table.
axis "compression" {
  level "c0" {
    description = "not compressed"
    params      = { table = "none" }
    my_cnf = {
      rocksdb_default_cf_options = { compression_per_level = param.engine == "rocksdb" ? "kNoCompression" : null }
    }
  }
  level "c1" {
    description = "compressed: InnoDB pages to 8 KiB, MyRocks blocks by zstd"
    params      = { table = param.engine == "innodb" ? "table" : "none" }
    my_cnf = {
      rocksdb_default_cf_options = { compression_per_level = param.engine == "rocksdb" ? "kZSTDNotFinalCompression" : null }
    }
  }
  level "tc" {
    description = "transparent page compression: holes are punched into the file"
    params      = { table = "transparent" }
  }
}

matrix "innodb" {
  binary      = ["inno.1011", "inno.118", "inno.97"]
  compression = "*"
}

matrix "myrocks" {
  binary      = ["myrocks.1011", "myrocks.118"]
  compression = ["c0", "c1"]
}

phase "load" {
  workload "insert_benchmark" {
    step           = "load"
    profile        = "classic"
    tables         = 2
    clients        = 2
    rows           = var.rows
    engine         = param.engine
    compression    = param.table
    key_block_size = param.table == "table" ? 8 : null
  }
  settle {
    dirty_pages_pct = 1
    compaction      = param.engine == "rocksdb" ? true : null
    max_wait        = "30s"
  }
}

phase "query" {
  workload "insert_benchmark" {
    step        = "query"
    insert_rate = 200
    seconds     = var.seconds
  }
}

phase "drop" {
  workload "sql" { statements = ["drop database ib"] }
}

locals {
  columns = [
    { label = "load ips", of = "ips", phase = "load", format = null },
    { label = "load Mcpu/i", of = "Mcpu/i", phase = "load", format = null },
    { label = "load data", of = "size.data", phase = "load", format = "%.3f" },
    { label = "query qps", of = "qps", phase = "query", format = null },
    { label = "query Mcpu/q", of = "Mcpu/q", phase = "query", format = null },
    { label = "drop secs", of = "secs", phase = "drop", format = "%.2f" },
  ]
}

# The same rows twice: grouped by build, then by compression.
dynamic "table" {
  for_each = { "by-binary" = "binary", "by-compression" = "compression" }
  iterator = t
  labels   = [t.key]
  content {
    title    = t.key == "by-binary" ? "Grouped by build" : "Grouped by compression"
    rows     = t.value == "binary" ? ["binary", "compression"] : ["compression", "binary"]
    group_by = [t.value]

    dynamic "column" {
      for_each = local.columns
      iterator = c
      labels   = [c.value.label]
      content {
        of      = c.value.of
        phase   = c.value.phase
        format  = c.value.format
        heading = split(" ", c.value.label)
      }
    }

    label {
      heading = "config"
      text    = "${label.binary}.${label.compression}"
    }
  }
}
