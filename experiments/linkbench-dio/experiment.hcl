# Linkbench on two builds of MyRocks, with and without compression and direct I/O.
#
# At the published scale these are Facebook's MyRocks of 16 June 2017 and 8 May
# 2018. The small scale stands in for them with MyRocks of MariaDB 10.11 and 11.8.
experiment {
  title  = "Linkbench on MyRocks: two builds, compression, direct I/O"
  source = "mdcallag, gist of 2018: linkbench id1=1b, 28 clients"
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

server "myrocks1011" {
  flavour     = "mariadb"
  min_version = "10.11"
}
server "myrocks118" {
  flavour     = "mariadb"
  min_version = "11.8"
}

server "myrocks_16jun17" { flavour = "mysql" }
server "myrocks_8may18" { flavour = "mysql" }

locals {
  size = {
    tiny      = { maxid1 = 2001, loaders = 2, requesters = 2, seconds = 1, hours = 2, block_cache = "32M", write_buffer = "4m", zstd = "kZSTDNotFinalCompression", deadlock_detect = true } # MariaDB's name of it
    small     = { maxid1 = 50001, loaders = 2, requesters = 4, seconds = 2, hours = 12, block_cache = "16M", write_buffer = "4m", zstd = "kZSTDNotFinalCompression", deadlock_detect = true }
    published = { maxid1 = 1e9, loaders = 4, requesters = 28, seconds = 3600, hours = 12, block_cache = "30G", write_buffer = null, zstd = "kZSTD", deadlock_detect = null }
  }[var.scale]

  # The older build first.
  here = [{ name = "myrocks.1011", server = "myrocks1011" }, { name = "myrocks.118", server = "myrocks118" }]
  binaries = {
    tiny      = local.here
    small     = local.here
    published = [{ name = "myrocks.16jun17", server = "myrocks_16jun17" }, { name = "myrocks.8may18", server = "myrocks_8may18" }]
  }[var.scale]

  # Those that the text below speaks of.
  older = local.binaries[0].name
  newer = local.binaries[1].name
}

defaults {
  my_cnf = {
    rocksdb_block_cache_size   = local.size.block_cache
    rocksdb_deadlock_detect    = local.size.deadlock_detect                      # else two that wait for each other do so until both time out, and try again
    rocksdb_default_cf_options = { write_buffer_size = local.size.write_buffer } # small: else all data would fit into it
  }
}

axis "binary" {
  dynamic "level" {
    for_each = local.binaries
    iterator = b
    labels   = [b.value.name]
    content {
      server = server[b.value.server]
    }
  }
}

axis "compression" {
  level "none" { my_cnf = { rocksdb_default_cf_options = { compression_per_level = "kNoCompression" } } }
  level "zstd" {
    my_cnf = {
      rocksdb_default_cf_options = {
        compression_per_level  = "kNoCompression:kLZ4Compression"
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

exclude {
  when   = pos.binary == 0 && axis.io == "dio"
  reason = "the older build was not measured with direct I/O"
}

phase "load" {
  workload "linkbench" {
    step    = "load"
    maxid1  = local.size.maxid1
    loaders = local.size.loaders
    engine  = "rocksdb"
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
    Two builds of MyRocks, the older first: is the newer one faster, what does compression by zstd save, and what does direct I/O
    cost? ${local.size.maxid1 - 1} Linkbench nodes are loaded by ${local.size.loaders} clients, then ${local.size.requesters} clients run ${local.size.hours} times for ${local.size.seconds} s; the last run is shown, as the
    original shows its 12th hour. The block cache is ${local.size.block_cache}.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}, ${fact("data.filesystem")} on
    ${fact("data.device")}; builds ${fact("build.version")}.
  MD
}

locals {
  engine        = join(".", compact([label.binary, label.compression, label.io]))
  load_columns  = ["ips", "r/i", "rkb/i", "wkb/i", "Mcpu/i", "size", "rss", "r/s", "rMB/s", "wMB/s", "cpu"]
  query_columns = ["tps", "r/t", "rkb/t", "wkb/t", "Mcpu/t", "size", "rss", "un", "gn", "ul", "gl", "r/s", "rMB/s", "wMB/s", "cpu"]
  decimals      = var.scale == "published" ? {} : { size = "%.2f", rss = "%.2f" } # whole GB say nothing of a small database

  # At a small scale redo and other files, whose size is fixed, would outweigh the
  # data in the size of the whole database.
  tokens = var.scale == "published" ? {} : { size = "size.data" }
}

# Each published table below ours.
dynamic "table" {
  for_each = [
    { name = "load here", title = "load, ldop=${local.size.loaders}", source = "own", phase = "load", iteration = null, columns = local.load_columns },
    { name = "load", title = "load, ldop=4, as published", source = "published", phase = "load", iteration = null, columns = local.load_columns },
    { name = "query-12h here", title = "query @ run ${local.size.hours}", source = "own", phase = "query", iteration = local.size.hours, columns = local.query_columns },
    { name = "query-12h", title = "query @ 12h, as published", source = "published", phase = "query", iteration = 12, columns = local.query_columns },
  ]
  iterator = t
  labels   = [t.value.name]
  content {
    title     = t.value.title
    source    = t.value.source
    legend    = t.value.source == "own"
    phase     = t.value.phase
    iteration = t.value.iteration
    rows      = ["compression", "binary", "io"]
    dynamic "column" {
      for_each = t.value.columns
      iterator = c
      labels   = [c.value]
      content {
        of     = t.value.source == "own" ? lookup(local.tokens, c.value, c.value) : c.value
        format = t.value.source == "own" ? lookup(local.decimals, c.value, null) : null
      }
    }
    label {
      heading = "engine"
      text    = local.engine
    }
  }
}

chart "over time" {
  title  = "Transactions a second over the runs"
  kind   = "line"
  phase  = "query"
  x      = "iteration"
  y      = "tps"
  series = ["binary", "compression", "io"]
}

locals {
  none     = "binary=${local.newer},compression=none,io=buffered"
  none_dio = "binary=${local.newer},compression=none,io=dio"
  zstd     = "binary=${local.newer},compression=zstd,io=buffered"
  before   = "binary=${local.older},compression=none,io=buffered"
}

text "findings" {
  body = join("\n", concat(
    [
      "## What the original says, and what these numbers say", "",
      "The original is two tables without a word on what they show. What they say, and whether it is so here:", "",
      "| the original | here | |", "| --- | --- | --- |",
    ],
    [for s in [
      {
        says = "zstd makes the database smaller (there to half of it, 693 to 331 GB)"
        here = "GB after the load, none against zstd"
        a    = at(local.none, "size.data", "load")
        b    = at(local.zstd, "size.data", "load")
      },
      {
        says = "and writes more in the load (there 1.43 to 1.81 kB a row)"
        here = "wkb/i, zstd against none"
        a    = at(local.zstd, "wkb/i", "load")
        b    = at(local.none, "wkb/i", "load")
      },
      {
        says = "it costs CPU (there 783 to 890 a transaction)"
        here = "Mcpu/t, zstd against none"
        a    = at(local.zstd, "Mcpu/t", "query", local.size.hours)
        b    = at(local.none, "Mcpu/t", "query", local.size.hours)
      },
      {
        says = "and yet gives more transactions (there 41424 to 44876)"
        here = "tps, zstd against none"
        a    = at(local.zstd, "tps", "query", local.size.hours)
        b    = at(local.none, "tps", "query", local.size.hours)
      },
      {
        says = "direct I/O loses some (there 41424 to 37842)"
        here = "tps, none against none.dio"
        a    = at(local.none, "tps", "query", local.size.hours)
        b    = at(local.none_dio, "tps", "query", local.size.hours)
      },
      {
        says = "the newer build is a little faster (there 40698 to 41424)"
        here = "tps, none, ${local.newer} against ${local.older}"
        a    = at(local.none, "tps", "query", local.size.hours)
        b    = at(local.before, "tps", "query", local.size.hours)
      },
      ] : format("| %s | %s: %s against %s | %s |", s.says, s.here,
      format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.a), format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.b),
    s.a > 1.1 * s.b ? "as there" : s.b > 1.1 * s.a ? "not as there" : "too close to tell")],
    [
      "",
      "Two builds of one project that lie a year apart there are two versions of another here; a difference of 2 % cannot be seen in runs of",
      "${local.size.seconds} s. Files that fit into the page cache make buffered reads cheaper here than there.",
      "Each cell ran once (n = 1), for seconds: too few to judge by significance. Differences below 10 % are called too close to",
      "tell, and one above that may still be chance.",
    ],
  ))
}

# the numbers as they were published
import "published" { file = "published.csv" }
