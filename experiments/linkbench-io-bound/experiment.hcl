# Linkbench on a database larger than memory, MySQL 5.7.8 against earlier builds.
#
# At the published scale these are Facebook's MySQL 5.6 with InnoDB and MyRocks,
# MySQL 5.6.26 and 5.7.8. The small scale stands in for them with MyRocks and
# InnoDB of MariaDB 10.11, and InnoDB of MariaDB 11.8 and MySQL 9.7.
experiment {
  title  = "Linkbench, IO-bound: 24 runs, the binary log on for the second half"
  source = "Small Datum, 2015: Linkbench for MySQL 5.7.8 with an IO-bound database"
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

server "myrocks" { flavour = "mysql" }
server "fb56" { flavour = "mysql" }
server "orig56" { flavour = "mysql" }
server "orig57" { flavour = "mysql" }

locals {
  size = {
    small     = { maxid1 = 100001, loaders = 2, requesters = 4, seconds = 5, cache = "32M" }
    published = { maxid1 = 1e9, loaders = 10, requesters = 20, seconds = 3600, cache = null } # cache sizes were not published
  }[var.scale]

  binaries = {
    small = [
      { name = "myrocks", server = "myrocks1011", engine = "rocksdb" },
      { name = "inno1011", server = "mariadb1011", engine = "innodb" },
      { name = "inno118", server = "mariadb118", engine = "innodb" },
      { name = "inno97", server = "mysql97", engine = "innodb" },
    ]
    published = [
      { name = "myrocks", server = "myrocks", engine = "rocksdb" },
      { name = "fb56", server = "fb56", engine = "innodb" },
      { name = "orig56", server = "orig56", engine = "innodb" },
      { name = "orig57", server = "orig57", engine = "innodb" },
    ]
  }[var.scale]
}

defaults {
  my_cnf = {
    innodb_page_size               = "8k"
    innodb_flush_log_at_trx_commit = 2
    innodb_buffer_pool_size        = local.size.cache # null: not written
    rocksdb_block_cache_size       = param.engine == "rocksdb" ? local.size.cache : null
    sync_binlog                    = 0
    skip_log_bin                   = true # no binary log for the load and hours 1 to 12
  }
  params = { compression = "none" }
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

axis "partitioning" {
  level "p0" { params = { partitions = 0 } }
  level "p1" { params = { partitions = 32 } }
}

axis "compression" {
  level "c0" { params = { compression = "none" } }
  level "c1" { params = { compression = "table" } } # of the link and count tables
}

# MyRocks compresses by settings of its own, so the compression axis is absent there.
matrix "myrocks" {
  binary       = [for b in local.binaries : b.name if b.engine == "rocksdb"]
  partitioning = "*"
}

matrix "innodb" {
  binary       = [for b in local.binaries : b.name if b.engine == "innodb"]
  partitioning = "*"
  compression  = "*"
}

phase "load" {
  workload "linkbench" {
    step           = "load"
    maxid1         = local.size.maxid1
    loaders        = local.size.loaders
    engine         = param.engine
    partitions     = param.partitions
    compression    = param.compression
    key_block_size = param.compression == "table" ? 4 : null # half of an 8k page
  }
}

phase "query" {
  iterations = 12
  workload "linkbench" {
    step       = "query"
    requesters = local.size.requesters
    seconds    = local.size.seconds
  }
}

phase "query_binlog" {
  iterations = 12
  continues  = "query" # as hours 13 to 24
  restart    = true
  my_cnf     = { log_bin = true } # one option with skip_log_bin, which it overrides
  workload "linkbench" {
    step       = "query"
    requesters = local.size.requesters
    seconds    = local.size.seconds
  }
}

locals {
  hours = [
    { phase = "load", iteration = null, head = "load", rate = "ips" },
    { phase = "query", iteration = 2, head = "2h", rate = "qps" },
    { phase = "query", iteration = 12, head = "12h", rate = "qps" },
    { phase = "query", iteration = 14, head = "14h", rate = "qps" },
    { phase = "query", iteration = 24, head = "24h", rate = "qps" },
  ]

  # The rates twice, grouped by what varies between the tables.
  tables = {
    "sizes"           = { of = "gb", by = ["binary", "partitioning", "compression"] }
    "rates-by-binary" = { of = null, by = ["binary", "partitioning", "compression"] }
    "rates-by-config" = { of = null, by = ["partitioning", "compression", "binary"] }
  }
}

dynamic "table" {
  for_each = local.tables
  iterator = t
  labels   = [t.key]
  content {
    rows = t.value.by
    # The sizes of this cell were withdrawn by the author.
    only = t.key != "sizes" || var.scale == "small" || !(axis.binary == "myrocks" && axis.partitioning == "p1")

    dynamic "column" {
      for_each = local.hours
      iterator = h
      labels   = [h.value.head]
      content {
        of        = coalesce(t.value.of, h.value.rate)
        phase     = h.value.phase
        iteration = h.value.iteration
        heading   = [h.value.head, coalesce(t.value.of, h.value.rate)]
      }
    }

    group {
      # A cell without a compression level stands with the compressed ones.
      key   = t.key == "rates-by-config" ? "${axis.partitioning}.${coalesce(axis.compression, "c1")}" : axis.binary
      order = t.key == "rates-by-config" ? ["p0.c0", "p0.c1", "p1.c0", "p1.c1"] : null
    }

    label {
      heading = "config"
      text    = "${axis.binary}, ${join(".", compact([axis.partitioning, axis.compression]))}"
    }
  }
}

chart "load" {
  kind  = "bar"
  phase = "load"
  x     = "binary"
  y     = "ips"
}

chart "partitioned" {
  kind   = "line"
  phase  = "query"
  x      = "iteration"
  y      = "qps"
  only   = axis.partitioning == "p1"
  series = ["binary", "compression"]
}

# the numbers as they were published: report --source published --var scale=published
import "published" { file = "published.csv" }
