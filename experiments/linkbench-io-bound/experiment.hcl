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
  description = "small: two cores and minutes; published: the builds, sizes and durations of the original; tiny: seconds, to see that everything works here"
  type        = string
  default     = "small"
  validation {
    condition     = contains(["tiny", "small", "published"], var.scale)
    error_message = "scale is tiny, small or published."
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
  # loops: runs of the query test before the restart, and after it
  size = {
    tiny      = { maxid1 = 2001, loaders = 2, requesters = 2, seconds = 1, loops = 3, cache = "16M", deadlock_detect = true }
    small     = { maxid1 = 30001, loaders = 2, requesters = 4, seconds = 2, loops = 12, cache = "16M", deadlock_detect = true }
    published = { maxid1 = 1e9, loaders = 10, requesters = 20, seconds = 3600, loops = 12, cache = null, deadlock_detect = null } # cache sizes were not published
  }[var.scale]

  # The builds of today that stand in for those of the original.
  here = [
    { name = "myrocks", server = "myrocks1011", engine = "rocksdb" },
    { name = "inno1011", server = "mariadb1011", engine = "innodb" },
    { name = "inno118", server = "mariadb118", engine = "innodb" },
    { name = "inno97", server = "mysql97", engine = "innodb" },
  ]
  binaries = {
    tiny  = local.here
    small = local.here
    published = [
      { name = "myrocks", server = "myrocks", engine = "rocksdb" },
      { name = "fb56", server = "fb56", engine = "innodb" },
      { name = "orig56", server = "orig56", engine = "innodb" },
      { name = "orig57", server = "orig57", engine = "innodb" },
    ]
  }[var.scale]

  # Those that the text below speaks of.
  older = local.binaries[1].name
  newer = local.binaries[3].name
}

defaults {
  my_cnf = {
    innodb_page_size               = "8k"
    innodb_flush_log_at_trx_commit = 2
    innodb_buffer_pool_size        = local.size.cache # null: not written
    rocksdb_block_cache_size       = param.engine == "rocksdb" ? local.size.cache : null
    rocksdb_deadlock_detect        = param.engine == "rocksdb" ? local.size.deadlock_detect : null # as InnoDB does; else two that wait for each other do so until both time out
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
    profile        = "fb2011" # the only one in 2015
    maxid1         = local.size.maxid1
    loaders        = local.size.loaders
    engine         = param.engine
    partitions     = param.partitions
    compression    = param.compression
    key_block_size = param.compression == "table" ? 4 : null # half of an 8k page
  }
}

phase "query" {
  iterations = local.size.loops
  workload "linkbench" {
    step       = "query"
    requesters = local.size.requesters
    seconds    = local.size.seconds
  }
}

phase "query_binlog" {
  iterations = local.size.loops
  continues  = "query" # as hours 13 to 24 at the published scale
  restart    = true
  my_cnf     = { log_bin = true } # one option with skip_log_bin, which it overrides
  workload "linkbench" {
    step       = "query"
    requesters = local.size.requesters
    seconds    = local.size.seconds
  }
}

text "question" {
  body = <<-MD
    Linkbench on a database larger than the server's memory: how do builds, partitioning and compression change the load, the
    queries and the size? ${local.size.maxid1 - 1} nodes are loaded by ${local.size.loaders} clients without a binary log. Then the query test runs ${local.size.loops} times
    for ${local.size.seconds} s with ${local.size.requesters} clients; the server is restarted with a binary log, and it runs ${local.size.loops} times more. *p1* is 32 partitions a
    table; *c1* is compressed row format for links and counts, to half of an 8 KiB page; MyRocks compresses by settings of its own.
    The hours of the original are runs of ${local.size.seconds} s here, and its database of a terabyte is one of some tens of megabytes behind a
    cache of ${local.size.cache == null ? "a size that was not published" : local.size.cache}, through the page cache of the system: that is what a read costs here.
    Sizes are of the data files, system tables and undo logs included: some 20 MB in MariaDB 10.11 and 100 MB in MySQL 9.7, which no
    compression touches, so compare them within one build.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}, ${fact("data.filesystem")} on
    ${fact("data.device")}; builds ${fact("build.version")}.
  MD
}

locals {
  # The runs that are shown, of ours and of the published numbers.
  own = [
    { phase = "load", iteration = null, head = "load", rate = "ips" },
    { phase = "query", iteration = 2, head = "2h", rate = "qps" },
    { phase = "query", iteration = local.size.loops, head = "${local.size.loops}h", rate = "qps" },
    { phase = "query", iteration = local.size.loops + 2, head = "${local.size.loops + 2}h", rate = "qps" },
    { phase = "query", iteration = 2 * local.size.loops, head = "${2 * local.size.loops}h", rate = "qps" },
  ]
  theirs = [
    { phase = "load", iteration = null, head = "load", rate = "ips" },
    { phase = "query", iteration = 2, head = "2h", rate = "qps" },
    { phase = "query", iteration = 12, head = "12h", rate = "qps" },
    { phase = "query", iteration = 14, head = "14h", rate = "qps" },
    { phase = "query", iteration = 24, head = "24h", rate = "qps" },
  ]

  # At a small scale redo and binary logs, whose size is fixed, would outweigh the
  # data in the size of the whole database.
  gb = { of = var.scale == "published" ? "gb" : "size.data", format = var.scale == "published" ? null : "%.3f" }

  # The rates twice, grouped by what varies between the tables. Each table of ours
  # is followed by the published one.
  by_binary = ["binary", "partitioning", "compression"]
  by_config = ["partitioning", "compression", "binary"]
  tables = [
    { name = "sizes here", title = "Database size in GB, after the load and after some of the runs", source = "own", of = local.gb.of, format = local.gb.format, by = local.by_binary },
    { name = "sizes", title = "Database size in GB, as published", source = "published", of = "gb", format = null, by = local.by_binary },
    { name = "rates-by-binary here", title = "Insert rate of the load, and queries a second", source = "own", of = null, format = null, by = local.by_binary },
    { name = "rates-by-binary", title = "Insert rate of the load, and queries a second, as published", source = "published", of = null, format = null, by = local.by_binary },
    { name = "rates-by-config here", title = "The same, grouped by configuration", source = "own", of = null, format = null, by = local.by_config },
    { name = "rates-by-config", title = "Grouped by configuration, as published", source = "published", of = null, format = null, by = local.by_config },
  ]
}

dynamic "table" {
  for_each = local.tables
  iterator = t
  labels   = [t.value.name]
  content {
    title  = t.value.title
    source = t.value.source
    legend = t.value.source == "own"
    rows   = t.value.by
    # The published sizes of this cell were withdrawn by their author.
    only = t.value.of == null || t.value.source == "own" && var.scale != "published" || !(axis.binary == "myrocks" && axis.partitioning == "p1")

    dynamic "column" {
      for_each = t.value.source == "own" ? local.own : local.theirs
      iterator = h
      labels   = [h.value.head]
      content {
        of        = coalesce(t.value.of, h.value.rate)
        format    = t.value.format
        phase     = h.value.phase
        iteration = h.value.iteration
        heading   = [h.value.head, t.value.of == null ? h.value.rate : "gb"]
      }
    }

    group {
      # A cell without a compression level stands with the compressed ones.
      key   = t.value.by == local.by_config ? "${axis.partitioning}.${coalesce(axis.compression, "c1")}" : axis.binary
      order = t.value.by == local.by_config ? ["p0.c0", "p0.c1", "p1.c0", "p1.c1"] : null
    }

    label {
      heading = "config"
      text    = "${axis.binary}, ${join(".", compact([axis.partitioning, axis.compression]))}"
    }
  }
}

chart "load" {
  title  = "Rows loaded a second"
  kind   = "bar"
  phase  = "load"
  x      = "binary"
  y      = "ips"
  series = ["partitioning", "compression"]
}

chart "partitioned" {
  title  = "Queries a second over the runs, partitioned"
  kind   = "line"
  phase  = "query"
  x      = "iteration"
  y      = "qps"
  only   = axis.partitioning == "p1"
  series = ["binary", "compression"]
}

text "findings" {
  body = join("\n", concat(
    [
      "## What the original says, and what these numbers say", "",
      "| the original | here | |", "| --- | --- | --- |",
    ],
    [for s in [
      {
        says = "MyRocks loads faster than InnoDB"
        here = "rows a second, not partitioned"
        a    = at("binary=myrocks,partitioning=p0", "ips", "load")
        b    = at("binary=${local.newer},partitioning=p0,compression=c0", "ips", "load")
      },
      {
        says = "MyRocks needs less space than compressed InnoDB (there much less)"
        here = "GB after the last run, ${local.older} p0.c1 against MyRocks"
        a    = at("binary=${local.older},partitioning=p0,compression=c1", local.gb.of, "query", 2 * local.size.loops)
        b    = at("binary=myrocks,partitioning=p0", local.gb.of, "query", 2 * local.size.loops)
      },
      {
        says = "MyRocks QPS degrades over time"
        here = "run 2 against the last"
        a    = at("binary=myrocks,partitioning=p0", "qps", "query", 2)
        b    = at("binary=myrocks,partitioning=p0", "qps", "query", 2 * local.size.loops)
      },
      {
        says = "partitioning helps the load of an older InnoDB"
        here = "${local.older} c0, p1 against p0"
        a    = at("binary=${local.older},partitioning=p1,compression=c0", "ips", "load")
        b    = at("binary=${local.older},partitioning=p0,compression=c0", "ips", "load")
      },
      {
        says = "and that of its compressed tables"
        here = "${local.older} c1, p1 against p0"
        a    = at("binary=${local.older},partitioning=p1,compression=c1", "ips", "load")
        b    = at("binary=${local.older},partitioning=p0,compression=c1", "ips", "load")
      },
      {
        says = "in the newest build it does not help without compression"
        here = "${local.newer} c0, p0 against p1"
        a    = at("binary=${local.newer},partitioning=p0,compression=c0", "ips", "load")
        b    = at("binary=${local.newer},partitioning=p1,compression=c0", "ips", "load")
      },
      {
        says = "but still does with it"
        here = "${local.newer} c1, p1 against p0"
        a    = at("binary=${local.newer},partitioning=p1,compression=c1", "ips", "load")
        b    = at("binary=${local.newer},partitioning=p0,compression=c1", "ips", "load")
      },
      {
        says = "compressed tables answer badly right after the load, and better later"
        here = "${local.newer} p0.c1, last run against run 2"
        a    = at("binary=${local.newer},partitioning=p0,compression=c1", "qps", "query", 2 * local.size.loops)
        b    = at("binary=${local.newer},partitioning=p0,compression=c1", "qps", "query", 2)
      },
      ] : format("| %s | %s: %s against %s | %s |", s.says, s.here,
      format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.a), format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.b),
    s.a > 1.1 * s.b ? "as there" : s.b > 1.1 * s.a ? "not as there" : "too close to tell")],
    [
      "",
      "Not judged: that the Facebook patch is faster than upstream, since that build is not here; and what hours of page splits do,",
      "which runs of seconds on a small database cannot show. Two cores and ${local.size.requesters} clients hardly contend for the mutex of an index that",
      "partitioning spreads; a table in 32 files costs more here than it can win.",
      "Each cell ran once (n = 1), for seconds: too few to judge by significance. Differences below 10 % are called too close to",
      "tell, and one above that may still be chance.",
    ],
  ))
}

# the numbers as they were published
import "published" { file = "published.csv" }
