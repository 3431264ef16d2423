# The whole insert benchmark on three engines: the four steps of 2018, and then the
# ten of today, in one run of each engine.
#
#     make servers
#     dbmatrix run experiments/insert-benchmark
#     dbmatrix report experiments/insert-benchmark --format text
#
# Percentiles of rates are those of intervals of a second, and a phase needs ten of
# them: at the scale tiny there are none.
experiment {
  title = "The insert benchmark, classic and modern: InnoDB, MyRocks and PostgreSQL"
}

variable "scale" {
  description = "small: two cores and minutes; tiny: seconds, to see that everything works here"
  type        = string
  default     = "small"
  validation {
    condition     = contains(["tiny", "small"], var.scale)
    error_message = "scale is tiny or small."
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

server "pg15" {
  flavour     = "postgres"
  min_version = "15"
}

locals {
  size = {
    tiny  = { rows = 200000, load_rows = 100000, insert_rows = 5000, longest = null, seconds = 1, memory = 64 } # so many that a scan takes some ticks of the CPU clock
    small = { rows = 4.5e6, load_rows = 1.4e6, insert_rows = 4e6, longest = 25, seconds = 12, memory = 128 }    # so many that each step takes the ten seconds that percentiles need
  }[var.scale]

  rates = [100, 500, 1000]

  # The steps with queries, as the original names them: the rate of the inserts,
  # and the number of the step.
  loops = flatten([for i, rate in local.rates : [
    { name = "qr${rate}.L${2 * i + 1}", step = "qr", rate = rate },
    { name = "qp${rate}.L${2 * i + 2}", step = "qp", rate = rate },
  ]])
}

# A commit does not wait for the device in any of them: the log is synced about
# once a second.
defaults {
  my_cnf = {
    skip_log_bin                   = true
    innodb_flush_log_at_trx_commit = 2
    innodb_buffer_pool_size        = "${local.size.memory}M"
    innodb_log_file_size           = "512M"

    # A build without MyRocks refuses these: null leaves them out.
    rocksdb_flush_log_at_trx_commit = param.engine == "rocksdb" ? 2 : null
    rocksdb_block_cache_size        = param.engine == "rocksdb" ? "${local.size.memory}M" : null
  }
  postgresql_conf = {
    synchronous_commit = false
    shared_buffers     = "${local.size.memory}MB"
    max_wal_size       = "4GB" # no checkpoint for want of log
  }
}

axis "engine" {
  level "innodb" {
    server = server.mariadb1011
    params = { engine = "innodb" }
  }
  level "myrocks" {
    server = server.myrocks1011
    params = { engine = "rocksdb" }
  }
  level "postgres" {
    server = server.pg15
    params = { engine = "innodb" } # PostgreSQL has none to choose
  }
}

matrix "engines" { engine = "*" }

# The steps of 2018.
phase "load" {
  workload "insert_benchmark" {
    step   = "load"
    tables = 2
    rows   = local.size.load_rows
    engine = param.engine
  }
}

phase "scan" {
  workload "insert_benchmark" { step = "scan" }
}

dynamic "phase" {
  for_each = [1000, 100]
  iterator = rate
  labels   = ["q${rate.value}"]
  content {
    workload "insert_benchmark" {
      step        = "query"
      insert_rate = rate.value
      seconds     = local.size.seconds
    }
  }
}

# The steps of today. The first makes the tables anew. What a phase does not say it
# takes from the one before, so it is here that the rate of q100 ends.
phase "l.i0" {
  workload "insert_benchmark" {
    step        = "l.i0"
    rows        = local.size.rows
    insert_rows = local.size.insert_rows
    insert_rate = 0
  }
}

dynamic "phase" {
  for_each = ["l.x", "l.i1", "l.i2"]
  iterator = step
  labels   = [step.value]
  content {
    workload "insert_benchmark" {
      step        = step.value
      max_seconds = step.value == "l.x" ? null : local.size.longest
    }
  }
}

dynamic "phase" {
  for_each = local.loops
  iterator = loop
  labels   = [loop.value.name]
  content {
    workload "insert_benchmark" {
      step        = loop.value.step
      insert_rate = loop.value.rate
    }
  }
}

locals {
  load_columns = ["ips.av", "ips.75", "ips.95", "ips.99", "r/i", "rkb/i", "wkb/i", "Mcpu/i", "size", "rss", "r/s", "rmb/s", "wmb/s", "cpu"]
  oltp_columns = ["ips.av", "ips.99", "qps.av", "qps.99", "r/i", "rkb/i", "wkb/i", "Mcpu/i", "r/q", "rkb/q", "Mcpu/q", "size", "rss", "r/s", "rmb/s", "wmb/s", "cpu"]
  scan_columns = ["secs", "rMB/s", "wMB/s", "r/o", "rKB/o", "wKB/o", "rGB", "cs/o", "Mcpu/o", "wa.sec"]

  # Those of l.x, whose inserts are one batch, end before the percentiles.
  index_columns  = ["ips", "rps", "rmbps", "wps", "wmbps", "rpi", "rkbpi", "wpi", "wkbpi", "csps", "cpups", "cspi", "cpupi", "csecpi", "dsecpi", "dbgb1", "dbgb2", "rss", "maxop"]
  insert_columns = concat(local.index_columns, ["ips.50", "ips.99"])
  delete_columns = concat(local.insert_columns, ["dps", "dps.50", "dps.99"])
  query_columns = [
    "ips", "qps", "dps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi", "csps", "cpups", "cspq", "cpupq", "csecpq", "dsecpq", "dbgb1", "dbgb2", "rss", "maxop",
    "ips.50", "ips.99", "dps.50", "dps.99", "qps.50", "qps.99", "target", "achieved",
  ]

  tables = concat(
    [{ phase = "load", columns = local.load_columns }],
    [for rate in [1000, 100] : { phase = "q${rate}", columns = local.oltp_columns }],
    [
      { phase = "l.i0", columns = local.insert_columns },
      { phase = "l.x", columns = local.index_columns },
      { phase = "l.i1", columns = local.delete_columns },
      { phase = "l.i2", columns = local.delete_columns },
    ],
    [for loop in local.loops : { phase = loop.name, columns = local.query_columns }],
  )
}

# A column for each scan, and the secondary indexes together.
table "scan" {
  title = "Seconds of each scan, and of the secondary indexes together"
  phase = "scan"
  dynamic "column" {
    for_each = range(1, 6)
    iterator = scan
    labels   = [scan.value]
    content {
      of        = "secs"
      iteration = scan.value
      format    = "%.2f"
    }
  }
  column "2-4" {
    value  = col["2"] + col["3"] + col["4"]
    format = "%.2f"
  }
  label {
    heading = "engine"
    text    = axis.engine
  }
}

dynamic "table" {
  for_each = range(1, 6)
  iterator = n
  labels   = ["scan ${n.value}"]
  content {
    title     = "Scan ${n.value}"
    phase     = "scan"
    iteration = n.value
    columns   = local.scan_columns
    label {
      heading = "engine"
      text    = axis.engine
    }
  }
}

dynamic "table" {
  for_each = local.tables
  iterator = t
  labels   = [t.value.phase]
  content {
    phase   = t.value.phase
    columns = t.value.columns
    label {
      heading = "engine"
      text    = axis.engine
    }
  }
}

# All steps of today in one table: rows a second, or queries.
table "summary" {
  title = "Rows a second of l.i0 to l.i2, queries a second of the others"
  dynamic "column" {
    for_each = concat([for step in ["l.i0", "l.x", "l.i1", "l.i2"] : { of = "ips", phase = step }], [for loop in local.loops : { of = "qps", phase = loop.name }])
    iterator = c
    labels   = [c.value.phase]
    content {
      of    = c.value.of
      phase = c.value.phase
    }
  }
  label {
    heading = "engine"
    text    = axis.engine
  }
}
