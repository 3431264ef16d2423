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
  description = "small: two cores and minutes; published: the builds, sizes and durations of the original; tiny: seconds, to see that everything works here"
  type        = string
  default     = "small"
  validation {
    condition     = contains(["tiny", "small", "published"], var.scale)
    error_message = "scale is tiny, small or published."
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
    tiny      = { maxid1 = 2001, loaders = 2, requesters = 2, seconds = 1, hours = 3, cache = "256M", deadlock_detect = true }
    small     = { maxid1 = 20001, loaders = 2, requesters = 4, seconds = 2, hours = 12, cache = "512M", deadlock_detect = true }
    published = { maxid1 = 20000001, loaders = 10, requesters = 20, seconds = 3600, hours = 12, cache = "100G", deadlock_detect = null } # the cache held all; its size was not published
  }[var.scale]

  # The builds of today that stand in for those of the original. A level bundles a
  # server, its performance schema (ps), and what compression means for it (c1).
  here = [
    { name = "myrocks", server = "myrocks1011", engine = "rocksdb", ps = null, c1 = null },
    { name = "inno1011", server = "mariadb1011", engine = "innodb", ps = null, c1 = "table" },
    { name = "inno118.ps", server = "mariadb118", engine = "innodb", ps = true, c1 = "table" },
    { name = "inno97.ps", server = "mysql97", engine = "innodb", ps = true, c1 = "table" },
    { name = "inno97.tc", server = "mysql97", engine = "innodb", ps = true, c1 = "transparent" },
  ]
  binaries = {
    tiny  = local.here
    small = local.here
    published = [
      { name = "myrocks", server = "myrocks", engine = "rocksdb", ps = null, c1 = null },
      { name = "fb56", server = "fb56", engine = "innodb", ps = null, c1 = "table" },
      { name = "orig56.ps", server = "orig56", engine = "innodb", ps = true, c1 = "table" },
      { name = "orig57.ps", server = "orig57", engine = "innodb", ps = true, c1 = "table" },
      { name = "orig57.tc", server = "orig57", engine = "innodb", ps = true, c1 = "transparent" },
    ]
  }[var.scale]

  # Those that the text below speaks of.
  older       = local.binaries[1].name
  newer       = local.binaries[3].name
  transparent = local.binaries[4].name
}

defaults {
  my_cnf = {
    innodb_flush_log_at_trx_commit = 2
    innodb_buffer_pool_size        = local.size.cache
    rocksdb_block_cache_size       = param.engine == "rocksdb" ? local.size.cache : null
    rocksdb_deadlock_detect        = param.engine == "rocksdb" ? local.size.deadlock_detect : null # as InnoDB does; else two that wait for each other do so until both time out
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
    profile        = "fb2011" # the only one in 2015
    maxid1         = local.size.maxid1
    loaders        = local.size.loaders
    engine         = param.engine
    partitions     = param.partitions
    compression    = param.compression
    key_block_size = param.compression == "table" ? 8 : null # half of a 16k page
  }
}

phase "query" {
  iterations = local.size.hours
  workload "linkbench" {
    step       = "query"
    requesters = local.size.requesters
    seconds    = local.size.seconds
  }
}

text "question" {
  body = <<-MD
    Linkbench on a database that fits into memory, with concurrent clients: what do builds, partitioning and the two kinds of
    InnoDB compression change? ${local.size.maxid1 - 1} nodes are loaded by ${local.size.loaders} clients, then the query test runs ${local.size.hours} times for ${local.size.seconds} s with
    ${local.size.requesters} clients. The binary log is on; neither it nor the redo log is synced at commit. *p1* is 32 partitions a table; *c1* is
    compressed row format, for ${local.transparent} transparent page compression. The hours of the original are runs of ${local.size.seconds} s here.
    Sizes are of the data files, system tables and undo logs included: some 20 MB in MariaDB 10.11 and 100 MB in MySQL 9.7, which no
    compression touches, so compare them within one build.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}, ${fact("data.filesystem")} on
    ${fact("data.device")}; builds ${fact("build.version")}.
  MD
}

locals {
  # At a small scale redo and binary logs, whose size is fixed, would outweigh the
  # data in the size of the whole database.
  gb = { of = var.scale == "published" ? "gb" : "size.data", format = var.scale == "published" ? null : "%.3f" }

  own = [
    { label = "load ips", of = "ips", format = null, phase = "load", iteration = null, head = ["load", "ips"] },
    { label = "load gb", of = local.gb.of, format = local.gb.format, phase = "load", iteration = null, head = ["load", "gb"] },
    { label = "2h qps", of = "qps", format = null, phase = "query", iteration = 2, head = ["2h", "qps"] },
    { label = "2h gb", of = local.gb.of, format = local.gb.format, phase = "query", iteration = 2, head = ["2h", "gb"] },
    { label = "last qps", of = "qps", format = null, phase = "query", iteration = local.size.hours, head = ["${local.size.hours}h", "qps"] },
    { label = "last gb", of = local.gb.of, format = local.gb.format, phase = "query", iteration = local.size.hours, head = ["${local.size.hours}h", "gb"] },
  ]
  theirs = [
    { label = "load ips", of = "ips", format = null, phase = "load", iteration = null, head = ["load", "ips"] },
    { label = "load gb", of = "gb", format = null, phase = "load", iteration = null, head = ["load", "gb"] },
    { label = "2h qps", of = "qps", format = null, phase = "query", iteration = 2, head = ["2h", "qps"] },
    { label = "2h gb", of = "gb", format = null, phase = "query", iteration = 2, head = ["2h", "gb"] },
    { label = "last qps", of = "qps", format = null, phase = "query", iteration = 12, head = ["12h", "qps"] },
    { label = "last gb", of = "gb", format = null, phase = "query", iteration = 12, head = ["12h", "gb"] },
  ]
}

# One table for each configuration, and below it the published one.
dynamic "table" {
  for_each = setproduct(["p0", "p1"], ["c0", "c1"], ["own", "published"])
  iterator = t
  labels   = ["${t.value[0]}.${t.value[1]}${t.value[2] == "own" ? " here" : ""}"]
  content {
    title  = "${t.value[0]}.${t.value[1]}${t.value[2] == "own" ? "" : ", as published"}"
    source = t.value[2]
    legend = t.value[2] == "own"
    only   = axis.partitioning == t.value[0] && axis.compression == t.value[1]
    rows   = ["binary"]

    dynamic "column" {
      for_each = t.value[2] == "own" ? local.own : local.theirs
      iterator = c
      labels   = [c.value.label]
      content {
        of        = c.value.of
        format    = c.value.format
        phase     = c.value.phase
        iteration = c.value.iteration
        heading   = c.value.head
      }
    }

    label { heading = "config" }
  }
}

chart "load" {
  title = "Rows loaded a second, p0.c0"
  kind  = "bar"
  phase = "load"
  only  = axis.partitioning == "p0" && axis.compression == "c0"
  x     = "binary"
  y     = "ips"
}

chart "last" {
  title     = "Queries a second in the last run, p0.c0"
  kind      = "bar"
  phase     = "query"
  iteration = local.size.hours
  only      = axis.partitioning == "p0" && axis.compression == "c0"
  x         = "binary"
  y         = "qps"
}

text "findings" {
  body = join("\n", concat(
    [
      "## What the original says, and what these numbers say", "",
      "| the original | here | |", "| --- | --- | --- |",
    ],
    [for s in [
      {
        says = "transparent compression loads faster than compressed row format"
        here = "rows a second, p0.c1, ${local.transparent} against ${local.newer}"
        a    = at("binary=${local.transparent},partitioning=p0,compression=c1", "ips", "load")
        b    = at("binary=${local.newer},partitioning=p0,compression=c1", "ips", "load")
      },
      {
        says = "its queries are slower"
        here = "last run, p0.c1, ${local.newer} against ${local.transparent}"
        a    = at("binary=${local.newer},partitioning=p0,compression=c1", "qps", "query", local.size.hours)
        b    = at("binary=${local.transparent},partitioning=p0,compression=c1", "qps", "query", local.size.hours)
      },
      {
        says = "MyRocks QPS suffers over time"
        here = "p0, run 2 against the last"
        a    = at("binary=myrocks,partitioning=p0,compression=c0", "qps", "query", 2)
        b    = at("binary=myrocks,partitioning=p0,compression=c0", "qps", "query", local.size.hours)
      },
      {
        says = "MyRocks compresses better than InnoDB"
        here = "GB after the load, ${local.older} p0.c1 against MyRocks"
        a    = at("binary=${local.older},partitioning=p0,compression=c1", local.gb.of, "load")
        b    = at("binary=myrocks,partitioning=p0,compression=c0", local.gb.of, "load")
      },
      {
        says = "compressed tables load faster with partitions in the older build"
        here = "${local.older}, p1.c1 against p0.c1"
        a    = at("binary=${local.older},partitioning=p1,compression=c1", "ips", "load")
        b    = at("binary=${local.older},partitioning=p0,compression=c1", "ips", "load")
      },
      {
        says = "but not in the newer one"
        here = "${local.newer}, p0.c1 against p1.c1"
        a    = at("binary=${local.newer},partitioning=p0,compression=c1", "ips", "load")
        b    = at("binary=${local.newer},partitioning=p1,compression=c1", "ips", "load")
      },
      ] : format("| %s | %s: %s against %s | %s |", s.says, s.here,
      format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.a), format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.b),
    s.a > 1.1 * s.b ? "as there" : s.b > 1.1 * s.a ? "not as there" : "too close to tell")],
    [
      "",
      "Not judged: that compression in the Facebook patch is much faster than upstream, since that build is not here. The last statement",
      "is the original's prose; its own table says the opposite for orig57.ps (46737 to 77037), and agrees only for orig57.tc.",
      "Each cell ran once (n = 1), for seconds: too few to judge by significance. Differences below 10 % are called too close to",
      "tell, and one above that may still be chance.",
    ],
  ))
}

# the numbers as they were published
import "published" { file = "published.csv" }
