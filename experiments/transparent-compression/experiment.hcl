# InnoDB's transparent page compression, which punches holes into the files,
# against compressed row format: load, queries over many hours, and the drop.
#
# At the published scale these are Facebook's MySQL 5.6 and MySQL 5.7.8. The small
# scale stands in for them with MariaDB 11.8 and MySQL 9.7, and asks the same of
# three filesystems, since the original's troubles were its filesystem's.
experiment {
  title  = "Transparent page compression against compressed row format"
  source = "Small Datum, 2015: Third day with InnoDB transparent page compression"
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

server "mariadb118" {
  flavour     = "mariadb"
  min_version = "11.8"
}
server "mysql97" {
  flavour     = "mysql"
  min_version = "9.7"
}

server "fb56" { flavour = "mysql" }
server "orig57" { flavour = "mysql" }

# On loop images of their own: scripts/storages.sh makes them.
storage "ext4" {}
storage "xfs" {}
storage "btrfs" {}

locals {
  # long, short: the hours of the two tests that are shown
  size = {
    tiny = {
      maxid1  = 2001, loaders = 2, requesters = 2, seconds = 1, cache = "64M", first = "inno118", second = "inno97"
      servers = ["mariadb118", "mysql97"], long = [1, 2], short = [2, 3], filesystems = ["ext4", "xfs", "btrfs"]
    }
    small = {
      maxid1  = 20001, loaders = 2, requesters = 4, seconds = 2, cache = "64M", first = "inno118", second = "inno97"
      servers = ["mariadb118", "mysql97"], long = range(2, 15, 2), short = [2, 6, 12], filesystems = ["ext4", "xfs", "btrfs"]
    }
    published = {
      maxid1  = 1e8, loaders = 10, requesters = 20, seconds = 3600, cache = null, first = "fb56", second = "orig578" # the cache was not published
      servers = ["fb56", "orig57"], long = range(20, 141, 20), short = [2, 12, 24], filesystems = []
    }
  }[var.scale]

  few = 2 # runs of the query test on each filesystem
}

defaults {
  my_cnf = { innodb_buffer_pool_size = local.size.cache } # null: not written
}

axis "binary" {
  dynamic "level" {
    for_each = [local.size.first, local.size.second]
    iterator = b
    labels   = [b.value]
    content {
      server = server[local.size.servers[b.key]]
    }
  }
}

axis "partitioning" {
  level "p0" { params = { partitions = 0 } }
  level "p1" { params = { partitions = 32 } }
}

axis "compression" {
  dynamic "level" { # the published tests had no such level
    for_each = var.scale == "published" ? [] : ["none"]
    labels   = [level.value]
    content {
      params = { compression = "none" }
    }
  }
  level "old-style" { params = { compression = "table" } }
  level "transparent" { params = { compression = "transparent" } }
}

dynamic "axis" {
  for_each = length(local.size.filesystems) > 0 ? [local.size.filesystems] : []
  labels   = ["filesystem"]
  content {
    dynamic "level" {
      for_each = axis.value
      iterator = f
      labels   = [f.value]
      content {
        storage = storage[f.value]
        # Fails where the place is not on the filesystem that its name says.
        setup = [["findmnt", "--noheadings", "--types", f.value, "--target", "{storage}"]]
      }
    }
  }
}

# Two tests, which differ in how long they run: that is a param of the matrix,
# since no axis decides it.
matrix "5.6 against 5.7" {
  zip          = [["binary", "partitioning", "compression"]]
  binary       = [local.size.first, local.size.second]
  partitioning = ["p1", "p0"]
  compression  = ["old-style", "transparent"]
  params       = { hours = max(local.size.long...) }
}

matrix "old-style against transparent" {
  binary       = [local.size.second]
  partitioning = ["p1"]
  compression  = ["old-style", "transparent"]
  params       = { hours = max(local.size.short...) }
}

# The same on each filesystem, and without compression too: what the holes cost
# there, in extents and in time to drop.
dynamic "matrix" {
  for_each = length(local.size.filesystems) > 0 ? [1] : []
  labels   = ["filesystems"]
  content {
    binary       = [local.size.second]
    partitioning = ["p0"]
    compression  = "*"
    filesystem   = "*"
    params       = { hours = local.few }
  }
}

phase "load" {
  workload "linkbench" {
    step           = "load"
    profile        = "fb2011" # the only one in 2015
    maxid1         = local.size.maxid1
    loaders        = local.size.loaders
    engine         = "innodb"
    partitions     = param.partitions
    compression    = param.compression
    key_block_size = param.compression == "table" ? 8 : null # half of a 16k page
  }
}

phase "query" {
  iterations = param.hours
  sample { extents = true }
  workload "linkbench" {
    step       = "query"
    requesters = local.size.requesters
    seconds    = local.size.seconds
  }
}

phase "drop" {
  workload "sql" { statements = ["drop database linkdb0"] }
}

text "question" {
  body = <<-MD
    InnoDB's transparent page compression writes whole pages and punches a hole after each. Is it faster or slower than the older
    compressed row format, how small is the result, and what does the filesystem make of all the holes? ${local.size.maxid1 - 1} Linkbench nodes
    are loaded by ${local.size.loaders} clients, ${local.size.requesters} clients query in runs of ${local.size.seconds} s where the original's took an hour, and then the database is
    dropped. Two tests as in the original, a long and a short one; and on each filesystem, a loop image on the same disk, one of
    ${local.few} runs for no compression, old-style and transparent.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}; builds ${fact("build.version")}.
  MD
}

# Each published table below ours, in the same form: cells across, hours down.
dynamic "table" {
  for_each = [
    { name = "fb56-vs-orig578 here", title = "Two builds", source = "own", matrix = "5.6 against 5.7", hours = local.size.long },
    { name = "fb56-vs-orig578", title = "Two builds, as published", source = "published", matrix = "5.6 against 5.7", hours = range(20, 141, 20) },
  ]
  iterator = t
  labels   = [t.value.name]
  content {
    title  = t.value.title
    source = t.value.source
    legend = t.value.source == "own"
    # Which rows are of which test, the published file says only by their levels.
    only      = t.value.source == "own" ? cell.matrix == t.value.matrix : "${axis.binary} ${axis.partitioning}" == "fb56 p1" || "${axis.binary} ${axis.partitioning}" == "orig578 p0"
    transpose = true
    rows      = ["binary"]

    column "ips" {
      phase   = "load"
      heading = "ips"
    }
    dynamic "column" {
      for_each = t.value.hours
      iterator = hour
      labels   = ["qps@${hour.value}"]
      content {
        of        = "qps"
        phase     = "query"
        iteration = hour.value
        heading   = "qps@${hour.value}"
      }
    }

    label {
      heading = ""
      text    = axis.binary
    }
  }
}

dynamic "table" {
  for_each = [
    { name = "old-style-vs-transparent here", title = "Old-style against transparent compression", source = "own", matrix = "old-style against transparent", hours = local.size.short },
    { name = "old-style-vs-transparent", title = "Old-style against transparent compression, as published", source = "published", matrix = "old-style against transparent", hours = [2, 12, 24] },
  ]
  iterator = t
  labels   = [t.value.name]
  content {
    title     = t.value.title
    source    = t.value.source
    legend    = t.value.source == "own"
    only      = t.value.source == "own" ? cell.matrix == t.value.matrix : "${axis.binary} ${axis.partitioning}" == "orig578 p1"
    transpose = true
    rows      = ["compression"]

    column "ips" {
      phase   = "load"
      heading = "ips"
    }
    dynamic "column" {
      for_each = t.value.hours
      iterator = hour
      labels   = ["qps@${hour.value}"]
      content {
        of        = "qps"
        phase     = "query"
        iteration = hour.value
        heading   = "qps@${hour.value}"
      }
    }

    label {
      heading = ""
      text    = "${var.scale == "published" || t.value.source != "own" ? "578" : axis.binary}, ${axis.compression}"
    }
  }
}

# The original tells these in prose: what a drop costs, and what the files take.
table "drop" {
  title = "What the files take, and what dropping them takes"
  rows  = ["binary", "partitioning", "compression"]
  only  = contains(["5.6 against 5.7", "old-style against transparent"], cell.matrix)

  column "size" {
    of      = "size.data"
    phase   = "query"
    format  = "%.3f"
    heading = ["data", "gb"]
  }
  column "apparent" {
    of      = "size.data.apparent"
    phase   = "query"
    format  = "%.3f"
    heading = ["data", "apparent"]
  }
  column "secs" {
    phase   = "drop"
    format  = "%.3f"
    heading = ["drop", "secs"]
  }

  label { heading = "config" }
}

dynamic "table" {
  for_each = length(local.size.filesystems) > 0 ? [1] : []
  labels   = ["filesystems"]
  content {
    title    = "On three filesystems: ${local.size.second}, not partitioned"
    rows     = ["filesystem", "compression"]
    group_by = ["filesystem"]
    only     = cell.matrix == "filesystems"

    column "ips" {
      phase   = "load"
      heading = ["load", "ips"]
    }
    column "qps" {
      phase   = "query"
      heading = ["query", "qps"]
    }
    column "size" {
      of      = "size.data"
      phase   = "query"
      format  = "%.3f"
      heading = ["data", "gb"]
    }
    column "apparent" {
      of      = "size.data.apparent"
      phase   = "query"
      format  = "%.3f"
      heading = ["data", "apparent"]
    }
    column "extents" {
      phase   = "query"
      heading = ["data", "extents"]
    }
    column "secs" {
      phase   = "drop"
      format  = "%.3f"
      heading = ["drop", "secs"]
    }
    column "kernel_messages" {
      phase   = "query"
      heading = ["kernel", "messages"]
    }
    label { heading = "filesystem, compression" }
  }
}

chart "over time" {
  title  = "Queries a second over the runs"
  kind   = "line"
  phase  = "query"
  x      = "iteration"
  y      = "qps"
  only   = contains(["5.6 against 5.7", "old-style against transparent"], cell.matrix)
  series = ["binary", "partitioning", "compression"]
}

locals {
  # The cells of the short test, and of the first filesystem, for the text below.
  old = "binary=${local.size.second},partitioning=p1,compression=old-style"
  new = "binary=${local.size.second},partitioning=p1,compression=transparent"
  end = max(local.size.short...)
  # The published scale has no filesystems: there these name the short test too.
  xfs     = var.scale == "published" ? local.new : "binary=${local.size.second},partitioning=p0,compression=transparent,filesystem=xfs"
  xfs_not = var.scale == "published" ? local.old : "binary=${local.size.second},partitioning=p0,compression=none,filesystem=xfs"
}

text "findings" {
  body = join("\n", concat(
    [
      "## What the original says, and what these numbers say", "",
      "| the original | here | |", "| --- | --- | --- |",
    ],
    [for s in [
      {
        says = "loads are faster with transparent compression (there slightly)"
        here = "rows a second, transparent against old-style"
        a    = at(local.new, "ips", "load")
        b    = at(local.old, "ips", "load")
      },
      {
        says = "transactions are slower (there slightly)"
        here = "last run, old-style against transparent"
        a    = at(local.old, "qps", "query", local.end)
        b    = at(local.new, "qps", "query", local.end)
      },
      {
        says = "a drop takes longer"
        here = "seconds, transparent against old-style"
        a    = at(local.new, "secs", "drop")
        b    = at(local.old, "secs", "drop")
      },
      {
        says = "the old-style database is larger (there by 4 %)"
        here = "GB allocated, old-style against transparent"
        a    = at(local.old, "size.data", "query", local.end)
        b    = at(local.new, "size.data", "query", local.end)
      },
      {
        says = "the files are smaller than ls says (there much)"
        here = "GB apparent against allocated, transparent"
        a    = at(local.new, "size.data.apparent", "query", local.end)
        b    = at(local.new, "size.data", "query", local.end)
      },
      {
        says = "holes multiply the extents of a file on XFS"
        here = "transparent against none"
        a    = at(local.xfs, "extents", "query")
        b    = at(local.xfs_not, "extents", "query")
      },
      {
        says = "and a drop on XFS takes longer for it"
        here = "seconds, transparent against none"
        a    = at(local.xfs, "secs", "drop")
        b    = at(local.xfs_not, "secs", "drop")
      },
      ] : format("| %s | %s: %s against %s | %s |", s.says, s.here,
      format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.a), format(max(s.a, s.b) < 10 ? "%.3f" : "%.0f", s.b),
    s.a > 1.1 * s.b ? "as there" : s.b > 1.1 * s.a ? "not as there" : "too close to tell")],
    [
      "",
      "Not judged: stalls, crashes and kernel deadlocks of the original, which were those of kernels of 2013 and 2014 after days, and its",
      "43 times slower drop of 100 GB; kernel messages would stand in the table above. A file of some tens of megabytes is dropped in",
      "milliseconds, whatever its holes.",
      "Each cell ran once (n = 1), for seconds: too few to judge by significance. Differences below 10 % are called too close to",
      "tell, and one above that may still be chance.",
    ],
  ))
}

# the numbers as they were published
import "published" { file = "published.csv" }
