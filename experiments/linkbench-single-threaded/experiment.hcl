# Linkbench with one client, on a database that fits in memory: what one more
# release costs a single thread, and what the performance schema does.
#
# At the published scale these are Facebook's MySQL 5.6 with InnoDB and MyRocks,
# MySQL 5.6.26 and 5.7.8. The small scale stands in for them with MyRocks and
# InnoDB of MariaDB 10.11, and InnoDB of MariaDB 11.8 and MySQL 9.7.
experiment {
  title  = "Linkbench, one client: builds and performance schema"
  source = "Small Datum, 2015: Single-threaded linkbench performance for MySQL 5.7, 5.6, WebScale and MyRocks"
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
    small     = { maxid1 = 50001, seconds = 10, cache = "1G", base = "inno97.nops" }
    published = { maxid1 = 2000001, seconds = 3600, cache = null, base = "orig57.nops" } # holds all the data; the size was not published
  }[var.scale]

  # ps: the performance schema; c1: what compression means for this level;
  # in: the configurations that it is measured in.
  binaries = {
    small = [
      { name = "myrocks", server = "myrocks1011", engine = "rocksdb", ps = null, c1 = null, in = "p0.c0" },
      { name = "inno1011", server = "mariadb1011", engine = "innodb", ps = null, c1 = "table", in = "all" },
      { name = "inno118.nops", server = "mariadb118", engine = "innodb", ps = false, c1 = "table", in = "all" },
      { name = "inno118.ps", server = "mariadb118", engine = "innodb", ps = true, c1 = null, in = "p0.c0" },
      { name = "inno97.nops", server = "mysql97", engine = "innodb", ps = false, c1 = "table", in = "all" },
      { name = "inno97.ps", server = "mysql97", engine = "innodb", ps = true, c1 = null, in = "p0.c0" },
      { name = "inno97.tc", server = "mysql97", engine = "innodb", ps = false, c1 = "transparent", in = "c1" },
    ]
    published = [
      { name = "myrocks", server = "myrocks", engine = "rocksdb", ps = null, c1 = null, in = "p0.c0" },
      { name = "fb56", server = "fb56", engine = "innodb", ps = null, c1 = "table", in = "all" },
      { name = "orig56.nops", server = "orig56", engine = "innodb", ps = false, c1 = "table", in = "all" },
      { name = "orig56.ps", server = "orig56", engine = "innodb", ps = true, c1 = null, in = "p0.c0" },
      { name = "orig57.nops", server = "orig57", engine = "innodb", ps = false, c1 = "table", in = "all" },
      { name = "orig57.ps", server = "orig57", engine = "innodb", ps = true, c1 = null, in = "p0.c0" },
      { name = "orig57.tc", server = "orig57", engine = "innodb", ps = false, c1 = "transparent", in = "c1" },
    ]
  }[var.scale]
}

defaults {
  my_cnf = {
    log_bin                        = true
    sync_binlog                    = 0
    innodb_flush_log_at_trx_commit = 2
    innodb_buffer_pool_size        = local.size.cache # null: not written
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

matrix "all four" {
  binary       = [for b in local.binaries : b.name if b.in == "all"]
  partitioning = "*"
  compression  = "*"
}

matrix "p0.c0 only" {
  binary       = [for b in local.binaries : b.name if b.in == "p0.c0"]
  partitioning = ["p0"]
  compression  = ["c0"]
}

matrix "transparent" {
  binary       = [for b in local.binaries : b.name if b.in == "c1"]
  partitioning = "*"
  compression  = ["c1"]
}

phase "load" {
  workload "linkbench" {
    step           = "load"
    maxid1         = local.size.maxid1
    loaders        = 1
    engine         = param.engine
    partitions     = param.partitions
    compression    = param.compression
    key_block_size = param.compression == "table" ? 8 : null # half of a 16k page
  }
}

phase "query" {
  workload "linkbench" {
    step       = "query"
    requesters = 1
    seconds    = local.size.seconds
  }
}

# The original prints this label shorter than in its other tables.
locals {
  labels = { "p1.c1 orig56.nops" = "orig56" }
}

# One table for each configuration, each with the same level as its base.
dynamic "table" {
  for_each = setproduct(["p0", "p1"], ["c0", "c1"])
  iterator = t
  labels   = [join(".", t.value)]
  content {
    only     = axis.partitioning == t.value[0] && axis.compression == t.value[1]
    rows     = ["binary"]
    missing  = "X"
    baseline = { binary = local.size.base }

    column "ips" {
      phase   = "load"
      heading = ["load", "ips"]
    }
    column "gb after load" {
      of      = "gb"
      phase   = "load"
      format  = "%.1f"
      heading = ["load", "gb"]
    }
    column "qps" {
      phase   = "query"
      heading = ["1h", "qps"]
    }
    column "gb after query" {
      of      = "gb"
      phase   = "query"
      format  = "%.1f"
      heading = ["1h", "gb"]
    }
    column "relative ips" {
      value   = col["ips"] / base["ips"]
      heading = ["relative", "ips"]
    }

    label {
      heading = "config"
      text    = lookup(local.labels, "${axis.partitioning}.${axis.compression} ${axis.binary}", axis.binary)
    }
  }
}

chart "relative" {
  kind     = "bar"
  phase    = "load"
  only     = axis.partitioning == "p0" && axis.compression == "c0"
  baseline = { binary = local.size.base }
  x        = "binary"
  y        = "ips"
}

# the numbers as they were published: report --source published --var scale=published
import "published" { file = "published.csv" }
