# The insert benchmark with and without direct I/O and compression: MyRocks
# against InnoDB, on data larger than memory.
#
# At the published scale these are Facebook's MyRocks of 8 May 2018 and MySQL
# 5.7.17. The small scale stands in for them with MyRocks and InnoDB of MariaDB
# 10.11.
experiment {
  title  = "Insert benchmark: direct I/O and compression for MyRocks, and InnoDB"
  source = "mdcallag, gist of 5 June 2018: Insert benchmark with 2b rows, 16 tables, 16 clients"
}

variable "scale" {
  description = "small: two cores and minutes; published: the builds, sizes and durations of the original"
  type        = string
  default     = "small"
  validation {
    condition     = contains(["small", "published"], var.scale)
    error_message = "scale is small or published."
  }
}

server "mariadb1011" {
  flavour     = "mariadb"
  min_version = "10.11"
}
server "myrocks1011" {
  flavour     = "mariadb"
  min_version = "10.11"
}

server "myrocks_8may18" { flavour = "mysql" }
server "orig5717" { flavour = "mysql" }

locals {
  size = {
    small     = { rows = 2000000, tables = 4, clients = 4, rates = [500, 100], seconds = 30, pool = "256M", block_cache = "256M", zstd = "kZSTDNotFinalCompression" } # MariaDB's name of it
    published = { rows = 2e9, tables = 16, clients = 16, rates = [1000, 100], seconds = 5000, pool = "35G", block_cache = "30G", zstd = "kZSTD" }                     # the seconds were not published
  }[var.scale]

  binaries = {
    small = [
      { name = "myrocks.1011", server = "myrocks1011", engine = "rocksdb" },
      { name = "inno.1011", server = "mariadb1011", engine = "innodb" },
    ]
    published = [
      { name = "myrocks.8may18", server = "myrocks_8may18", engine = "rocksdb" },
      { name = "inno.o5717", server = "orig5717", engine = "innodb" },
    ]
  }[var.scale]
}

defaults {
  my_cnf = {
    innodb_buffer_pool_size = local.size.pool

    # A build without MyRocks refuses these: null leaves them out.
    rocksdb_block_cache_size   = param.engine == "rocksdb" ? local.size.block_cache : null
    rocksdb_default_cf_options = { block_based_table_factory = param.engine == "rocksdb" ? "{filter_policy=bloomfilter:10:false}" : null }
  }
}

axis "binary" {
  dynamic "level" {
    for_each = local.binaries
    iterator = b
    labels   = [b.value.name]
    content {
      server = server[b.value.server]
      params = { engine = b.value.engine }
    }
  }
}

# Each adds keys to the column-family options that the defaults begin.
axis "compression" {
  level "none" { my_cnf = { rocksdb_default_cf_options = { compression_per_level = "kNoCompression" } } }
  level "zstd" {
    my_cnf = {
      rocksdb_default_cf_options = {
        compression_per_level  = "kNoCompression:kNoCompression:kLZ4Compression"
        bottommost_compression = local.size.zstd
      }
    }
  }
}

axis "io" {
  level "buffered" { label = "" }
  level "dio" {
    my_cnf = {
      rocksdb_use_direct_reads                       = true
      rocksdb_use_direct_io_for_flush_and_compaction = true
    }
  }
}

matrix "myrocks" {
  binary      = [for b in local.binaries : b.name if b.engine == "rocksdb"]
  compression = "*"
  io          = "*"
}

# InnoDB is one cell: neither axis says anything of it.
matrix "innodb" {
  binary = [for b in local.binaries : b.name if b.engine == "innodb"]
}

phase "load" {
  workload "insert_benchmark" {
    step    = "load"
    profile = "classic"
    tables  = local.size.tables
    clients = local.size.clients
    rows    = local.size.rows
    engine  = param.engine
  }
}

# Five steps of the workload's own, recorded as iterations: the primary key, three
# secondary indexes, the primary key again.
phase "scan" {
  workload "insert_benchmark" {
    step    = "scan"
    clients = local.size.clients
  }
}

dynamic "phase" {
  for_each = local.size.rates
  iterator = rate
  labels   = ["oltp-${local.size.clients}x${rate.value}"]
  content {
    workload "insert_benchmark" {
      step        = "query"
      insert_rate = rate.value
      clients     = local.size.clients
      seconds     = local.size.seconds
    }
  }
}

locals {
  load_columns = ["ips.av", "ips.75", "ips.95", "ips.99", "r/i", "rkb/i", "wkb/i", "Mcpu/i", "size", "rss", "r/s", "rmb/s", "wmb/s", "cpu"]
  oltp_columns = ["ips.av", "ips.99", "qps.av", "qps.99", "r/i", "rkb/i", "wkb/i", "Mcpu/i", "r/q", "rkb/q", "Mcpu/q", "size", "rss", "r/s", "rmb/s", "wmb/s", "cpu"]
  scan_columns = ["secs", "rMB/s", "wMB/s", "r/o", "rKB/o", "wKB/o", "rGB", "cs/o", "Mcpu/o", "wa.sec"]
  engine       = join(".", compact([label.binary, label.compression, label.io]))
}

table "load" {
  phase   = "load"
  columns = local.load_columns
  label {
    heading = "engine"
    text    = local.engine
  }
}

# A column for each scan, and the secondary indexes together.
table "scan" {
  phase = "scan"
  dynamic "column" {
    for_each = range(1, 6)
    iterator = scan
    labels   = [scan.value]
    content {
      of        = "secs"
      iteration = scan.value
    }
  }
  column "2-4" { value = col["2"] + col["3"] + col["4"] }
  label {
    heading = "engine"
    text    = local.engine
  }
}

dynamic "table" {
  for_each = [1, 5, 4]
  iterator = scan
  labels   = ["query-${scan.value}"]
  content {
    phase     = "scan"
    iteration = scan.value
    columns   = local.scan_columns
    label {
      heading = "engine"
      text    = local.engine
    }
  }
}

dynamic "table" {
  for_each = local.size.rates
  iterator = rate
  labels   = ["oltp-${local.size.clients}x${rate.value}"]
  content {
    phase   = "oltp-${local.size.clients}x${rate.value}"
    columns = local.oltp_columns
    label {
      heading = "engine"
      text    = local.engine
    }
  }
}

# the numbers as they were published: report --source published --var scale=published
import "published" { file = "published.csv" }
