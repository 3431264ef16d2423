# InnoDB and MyRocks on the insert benchmark: what partitioning, compression and
# direct I/O change about loading, querying, size and dropping. Small enough for
# two cores and three minutes; the sizes are variables.
experiment {
  title = "Insert benchmark: InnoDB and MyRocks, partitioning, compression, direct I/O"
}

variable "rows" {
  description = "rows that the load inserts, all tables together"
  default     = 100000
}

variable "seconds" {
  description = "how long the queries run"
  default     = 4
}

variable "insert_rate" {
  description = "rows that each client inserts a second while the queries run"
  default     = 200
}

# What the experiment needs. Where the builds are, a machine file says: "make
# servers" writes one.
server "mariadb1011" {
  flavour     = "mariadb"
  min_version = "10.11"
}

server "myrocks1011" {
  flavour     = "mariadb"
  min_version = "10.11"
}

# Every cell starts from these. The caches hold less than the data, so that
# reads reach the device.
defaults {
  my_cnf = {
    skip_log_bin                   = true
    innodb_flush_log_at_trx_commit = 2
    innodb_buffer_pool_size        = "24M"
    innodb_log_file_size           = "64M"

    # A build without MyRocks refuses these: null leaves them out.
    rocksdb_flush_log_at_trx_commit = param.engine == "rocksdb" ? 2 : null
    rocksdb_block_cache_size        = param.engine == "rocksdb" ? "24M" : null
    rocksdb_default_cf_options      = { write_buffer_size = param.engine == "rocksdb" ? "4m" : null }
  }
}

axis "engine" {
  level "inno" {
    description = "InnoDB"
    server      = server.mariadb1011
    params      = { engine = "innodb" }
  }
  level "myrocks" {
    description = "MyRocks"
    server      = server.myrocks1011
    params      = { engine = "rocksdb" }
  }
}

axis "partitioning" {
  level "p0" {
    description = "not partitioned"
    params      = { partitions = 0 }
  }
  level "p1" {
    description = "8 partitions a table"
    params      = { partitions = 8 }
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

axis "io" {
  level "buf" {
    description = "through the page cache"
    my_cnf = {
      innodb_flush_method      = param.engine == "innodb" ? "fsync" : null
      rocksdb_use_direct_reads = param.engine == "rocksdb" ? false : null
    }
  }
  level "dio" {
    description = "direct I/O"
    my_cnf = {
      innodb_flush_method      = param.engine == "innodb" ? "O_DIRECT" : null
      rocksdb_use_direct_reads = param.engine == "rocksdb" ? true : null

      rocksdb_use_direct_io_for_flush_and_compaction = param.engine == "rocksdb" ? true : null
    }
  }
}

matrix "innodb" {
  engine       = ["inno"]
  partitioning = "*"
  compression  = "*"
  io           = "*"
}

matrix "myrocks" {
  engine       = ["myrocks"]
  partitioning = "*"
  compression  = ["c0", "c1"]
  io           = "*"
}

exclude {
  when   = axis.partitioning == "p1" && axis.io == "buf"
  reason = "partitioning is compared under direct I/O alone"
}

phase "load" {
  workload "insert_benchmark" {
    step           = "load"
    profile        = "classic"
    tables         = 2
    clients        = 2
    rows           = var.rows
    engine         = param.engine
    partitions     = param.partitions
    later_rows     = var.insert_rate * var.seconds * 2 # what the queries' two clients insert
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
    insert_rate = var.insert_rate
    seconds     = var.seconds
  }
}

phase "drop" {
  workload "sql" { statements = ["drop database ib"] }
}

locals {
  config = join(".", [label.engine, label.partitioning, label.compression, label.io])
}

table "summary" {
  title    = "Load, query and drop"
  group_by = ["engine"]

  column "load ips" {
    of      = "ips"
    phase   = "load"
    heading = ["load", "ips"]
  }
  column "load wkb/i" {
    of      = "wkb/i"
    phase   = "load"
    heading = ["load", "wkb/i"]
  }
  column "load Mcpu/i" {
    of      = "Mcpu/i"
    phase   = "load"
    heading = ["load", "Mcpu/i"]
  }
  column "size" {
    of      = "size.data"
    phase   = "load"
    format  = "%.3f"
    heading = ["load", "data"]
  }
  column "apparent" {
    of      = "size.data.apparent"
    phase   = "load"
    format  = "%.3f"
    heading = ["load", "apparent"]
  }
  column "query ips" {
    of      = "ips"
    phase   = "query"
    heading = ["query", "ips"]
  }
  column "query qps" {
    of      = "qps"
    phase   = "query"
    heading = ["query", "qps"]
  }
  column "query r/q" {
    of      = "r/q"
    phase   = "query"
    heading = ["query", "r/q"]
  }
  column "rss" {
    phase   = "query"
    format  = "%.2f"
    heading = ["query", "rss"]
  }
  column "drop secs" {
    of      = "secs"
    phase   = "drop"
    format  = "%.2f"
    heading = ["drop", "secs"]
  }
  label {
    heading = "config"
    text    = local.config
  }
}

chart "load" {
  title  = "Rows loaded a second, not partitioned"
  kind   = "bar"
  phase  = "load"
  x      = "compression"
  y      = "ips"
  series = ["io"]
  facet  = ["engine"]
  only   = axis.partitioning == "p0"
}
