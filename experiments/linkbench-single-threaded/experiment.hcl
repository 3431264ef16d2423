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
    tiny      = { maxid1 = 2001, seconds = 1, cache = "256M", base = "inno97.nops" }
    small     = { maxid1 = 20001, seconds = 6, cache = "512M", base = "inno97.nops" }
    published = { maxid1 = 2000001, seconds = 3600, cache = null, base = "orig57.nops" } # holds all the data; the size was not published
  }[var.scale]

  # ps: the performance schema; c1: what compression means for this level;
  # in: the configurations that it is measured in.
  here = [
    { name = "myrocks", server = "myrocks1011", engine = "rocksdb", ps = null, c1 = null, in = "p0.c0" },
    { name = "inno1011", server = "mariadb1011", engine = "innodb", ps = null, c1 = "table", in = "all" },
    { name = "inno118.nops", server = "mariadb118", engine = "innodb", ps = false, c1 = "table", in = "all" },
    { name = "inno118.ps", server = "mariadb118", engine = "innodb", ps = true, c1 = null, in = "p0.c0" },
    { name = "inno97.nops", server = "mysql97", engine = "innodb", ps = false, c1 = "table", in = "all" },
    { name = "inno97.ps", server = "mysql97", engine = "innodb", ps = true, c1 = null, in = "p0.c0" },
    { name = "inno97.tc", server = "mysql97", engine = "innodb", ps = false, c1 = "transparent", in = "c1" },
  ]
  binaries = {
    tiny  = local.here
    small = local.here
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

  # Those that the text below speaks of.
  older       = local.binaries[1].name
  middle      = { nops = local.binaries[2].name, ps = local.binaries[3].name }
  newer       = { nops = local.binaries[4].name, ps = local.binaries[5].name }
  transparent = local.binaries[6].name
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
    profile        = "fb2011" # the only one in 2015
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

text "question" {
  body = <<-MD
    What does a newer release cost a single thread, and what does the performance schema? One client loads ${local.size.maxid1 - 1} nodes and
    then queries for ${local.size.seconds} s; all data is in memory, the binary log is on, and neither it nor the redo log is synced at commit. *nops*
    and *ps* are without and with the performance schema; *p1* is 32 partitions a table; *c1* is compressed row format, for
    ${local.transparent} transparent page compression. *relative* is the insert rate against ${local.size.base} of the same configuration.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}, ${fact("data.filesystem")} on
    ${fact("data.device")}; builds ${fact("build.version")}.
  MD
}

# The original prints this label shorter than in its other tables.
locals {
  labels = { "p1.c1 orig56.nops" = "orig56" }

  # At a small scale redo and binary logs, whose size is fixed, would outweigh the
  # data in the size of the whole database.
  gb = { of = var.scale == "published" ? "gb" : "size.data", format = var.scale == "published" ? "%.1f" : "%.3f" }
}

# One table for each configuration, each with the same level as its base, and below
# it the published one.
dynamic "table" {
  for_each = setproduct(["p0", "p1"], ["c0", "c1"], ["own", "published"])
  iterator = t
  labels   = ["${t.value[0]}.${t.value[1]}${t.value[2] == "own" ? " here" : ""}"]
  content {
    title    = "${t.value[0]}.${t.value[1]}${t.value[2] == "own" ? "" : ", as published"}"
    source   = t.value[2]
    legend   = t.value[2] == "own"
    only     = axis.partitioning == t.value[0] && axis.compression == t.value[1]
    rows     = ["binary"]
    missing  = "X"
    baseline = t.value[2] == "own" ? { binary = local.size.base } : null

    column "ips" {
      phase   = "load"
      heading = ["load", "ips"]
    }
    column "gb after load" {
      of      = t.value[2] == "own" ? local.gb.of : "gb"
      phase   = "load"
      format  = t.value[2] == "own" ? local.gb.format : "%.1f"
      heading = ["load", "gb"]
    }
    column "qps" {
      phase   = "query"
      heading = [var.scale == "published" || t.value[2] != "own" ? "1h" : "${local.size.seconds}s", "qps"]
    }
    column "gb after query" {
      of      = t.value[2] == "own" ? local.gb.of : "gb"
      phase   = "query"
      format  = t.value[2] == "own" ? local.gb.format : "%.1f"
      heading = [var.scale == "published" || t.value[2] != "own" ? "1h" : "${local.size.seconds}s", "gb"]
    }
    dynamic "column" {
      for_each = t.value[2] == "own" ? [1] : []
      labels   = ["relative ips"]
      content {
        value   = col["ips"] / base["ips"]
        heading = ["relative", "ips"]
      }
    }
    dynamic "column" { # printed there too: its base is no level of a small scale
      for_each = t.value[2] == "own" ? [] : [1]
      labels   = ["relative ips"]
      content {
        phase   = "load"
        heading = ["relative", "ips"]
      }
    }

    label {
      heading = "config"
      text    = lookup(local.labels, "${axis.partitioning}.${axis.compression} ${axis.binary}", axis.binary)
    }
  }
}

chart "relative" {
  title    = "Insert rate against ${local.size.base}, p0.c0"
  kind     = "bar"
  phase    = "load"
  only     = axis.partitioning == "p0" && axis.compression == "c0"
  baseline = { binary = local.size.base }
  x        = "binary"
  y        = "ips"
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
        here = "p0.c1, ${local.transparent} against ${local.newer.nops}"
        a    = at("binary=${local.transparent},partitioning=p0,compression=c1", "ips", "load")
        b    = at("binary=${local.newer.nops},partitioning=p0,compression=c1", "ips", "load")
      },
      {
        says = "insert rates of newer releases are worse"
        here = "p0.c0, ${local.older} against ${local.newer.nops}"
        a    = at("binary=${local.older},partitioning=p0,compression=c0", "ips", "load")
        b    = at("binary=${local.newer.nops},partitioning=p0,compression=c0", "ips", "load")
      },
      {
        says = "the same, within one line of releases where there is one"
        here = "p0.c0, ${local.older} against ${local.middle.nops}"
        a    = at("binary=${local.older},partitioning=p0,compression=c0", "ips", "load")
        b    = at("binary=${local.middle.nops},partitioning=p0,compression=c0", "ips", "load")
      },
      {
        says = "MyRocks has the fastest load"
        here = "p0.c0, myrocks against ${local.older}"
        a    = at("binary=myrocks,partitioning=p0,compression=c0", "ips", "load")
        b    = at("binary=${local.older},partitioning=p0,compression=c0", "ips", "load")
      },
      {
        says = "the performance schema costs 5 % of the load"
        here = "p0.c0, ${local.newer.nops} against ${local.newer.ps}"
        a    = at("binary=${local.newer.nops},partitioning=p0,compression=c0", "ips", "load")
        b    = at("binary=${local.newer.ps},partitioning=p0,compression=c0", "ips", "load")
      },
      ] : format("| %s | %s: %s against %s | %s |", s.says, s.here,
      format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.a), format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.b),
    s.a > 1.1 * s.b ? "as there" : s.b > 1.1 * s.a ? "not as there" : "too close to tell")],
    [
      "",
      "5 % cannot be seen in one short run, whichever way it points; the published table itself has the schema on as the faster one",
      "(36077 against 34233 for orig57, 48857 against 46785 for orig56). The builds here are of two families, so a newer number is not a",
      "later release of the same code. That the Facebook build is always faster is not judged: it is not here.",
      "Each cell ran once (n = 1), for seconds: too few to judge by significance. Differences below 10 % are called too close to",
      "tell, and one above that may still be chance.",
    ],
  ))
}

# the numbers as they were published
import "published" { file = "published.csv" }
