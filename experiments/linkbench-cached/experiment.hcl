# Linkbench on a database that fits in memory.
#
# At the published scale these are Facebook's MySQL 5.6 with InnoDB and MyRocks,
# MySQL 5.6.26 and 5.7.8. The small scale stands in for them with MyRocks and
# InnoDB of MariaDB 10.11, and InnoDB of MariaDB 11.8 and MySQL 9.7.
experiment {
  title  = "Linkbench, cached: builds, partitioning and compression"
  source = "Small Datum, 2015: Cached linkbench performance for MySQL 5.7.8, 5.6, WebScale and MyRocks"
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
    small     = { maxid1 = 100001, loaders = 2, requesters = 4, seconds = 5, cache = "2G" }
    published = { maxid1 = 20000001, loaders = 10, requesters = 20, seconds = 3600, cache = "100G" }
  }[var.scale]

  # A level of this axis bundles a server, its performance schema (ps), and what
  # compression means for it (c1).
  binaries = {
    small = [
      { name = "myrocks", server = "myrocks1011", engine = "rocksdb", ps = null, c1 = null },
      { name = "inno1011", server = "mariadb1011", engine = "innodb", ps = null, c1 = "table" },
      { name = "inno118.ps", server = "mariadb118", engine = "innodb", ps = true, c1 = "table" },
      { name = "inno97.ps", server = "mysql97", engine = "innodb", ps = true, c1 = "table" },
      { name = "inno97.tc", server = "mysql97", engine = "innodb", ps = true, c1 = "transparent" },
    ]
    published = [
      { name = "myrocks", server = "myrocks", engine = "rocksdb", ps = null, c1 = null },
      { name = "fb56", server = "fb56", engine = "innodb", ps = null, c1 = "table" },
      { name = "orig56.ps", server = "orig56", engine = "innodb", ps = true, c1 = "table" },
      { name = "orig57.ps", server = "orig57", engine = "innodb", ps = true, c1 = "table" },
      { name = "orig57.tc", server = "orig57", engine = "innodb", ps = true, c1 = "transparent" },
    ]
  }[var.scale]
}

defaults {
  my_cnf = {
    innodb_flush_log_at_trx_commit = 2
    innodb_buffer_pool_size        = local.size.cache
    rocksdb_block_cache_size       = param.engine == "rocksdb" ? local.size.cache : null
    log_bin                        = true
    sync_binlog                    = 0
  }
}

axis "binary" {
  dynamic "level" {
    for_each = local.binaries
    iterator = b
    labels   = [b.value.name]
    content {
      server = server[b.value.server]
      my_cnf = { performance_schema = b.value.ps } # null: as the build has it
      params = { engine = b.value.engine, c1 = b.value.c1 }
    }
  }
}

axis "partitioning" {
  level "p0" { params = { partitions = 0 } }
  level "p1" { params = { partitions = 32 } }
}

axis "compression" {
  level "c0" { params = { compression = "none" } }
  level "c1" { params = { compression = param.c1 } }
}

matrix "innodb" {
  binary       = [for b in local.binaries : b.name if b.c1 == "table"]
  partitioning = "*"
  compression  = "*"
}

matrix "myrocks" {
  binary       = [for b in local.binaries : b.name if b.c1 == null]
  partitioning = "*"
  compression  = ["c0"]
}

matrix "transparent" {
  binary       = [for b in local.binaries : b.name if b.c1 == "transparent"]
  partitioning = "*"
  compression  = ["c1"]
}

phase "load" {
  workload "linkbench" {
    step           = "load"
    maxid1         = local.size.maxid1
    loaders        = local.size.loaders
    engine         = param.engine
    partitions     = param.partitions
    compression    = param.compression
    key_block_size = param.compression == "table" ? 8 : null # half of a 16k page
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

locals {
  columns = [
    { label = "load ips", of = "ips", phase = "load", iteration = null, head = "load" },
    { label = "load gb", of = "gb", phase = "load", iteration = null, head = "load" },
    { label = "2h qps", of = "qps", phase = "query", iteration = 2, head = "2h" },
    { label = "2h gb", of = "gb", phase = "query", iteration = 2, head = "2h" },
    { label = "12h qps", of = "qps", phase = "query", iteration = 12, head = "12h" },
    { label = "12h gb", of = "gb", phase = "query", iteration = 12, head = "12h" },
  ]
}

# One table for each configuration.
dynamic "table" {
  for_each = setproduct(["p0", "p1"], ["c0", "c1"])
  iterator = t
  labels   = [join(".", t.value)]
  content {
    title = join(".", t.value)
    only  = axis.partitioning == t.value[0] && axis.compression == t.value[1]
    rows  = ["binary"]

    dynamic "column" {
      for_each = local.columns
      iterator = c
      labels   = [c.value.label]
      content {
        of        = c.value.of
        phase     = c.value.phase
        iteration = c.value.iteration
        heading   = [c.value.head, c.value.of]
      }
    }

    label { heading = "config" }
  }
}

chart "load" {
  kind  = "bar"
  phase = "load"
  only  = axis.partitioning == "p0" && axis.compression == "c0"
  x     = "binary"
  y     = "ips"
}

chart "hour-12" {
  kind      = "bar"
  phase     = "query"
  iteration = 12
  only      = axis.partitioning == "p0" && axis.compression == "c0"
  x         = "binary"
  y         = "qps"
}

# the numbers as they were published: report --source published --var scale=published
import "published" { file = "published.csv" }
