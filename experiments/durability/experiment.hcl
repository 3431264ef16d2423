# What durability costs: the redo log flushed at each commit or not, without the
# binary log, and with it synced or not. sync_binlog says something only where
# there is a binary log.
#
# At the published scale this is XtraDB 5.1.43, with its logs on a RAID of their
# own. The small scale uses MariaDB 11.8 in one place.
experiment {
  title      = "Durability settings under updates of an indexed column"
  source     = "MySQL Performance Blog, 2010: durability settings with sysbench update_key"
  replicates = local.size.replicates
}

variable "scale" {
  description = "small: two cores and minutes; published: the build, sizes and durations of the original; tiny: seconds, to see that everything works here"
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

server "xtradb51" { flavour = "mysql" }

storage "fusionio" {}
storage "raid10_bbu" {}

locals {
  size = {
    tiny  = { server = "mariadb118", rows = 10000, threads = 4, seconds = 1, places = {}, replicates = 1 }
    small = { server = "mariadb118", rows = 200000, threads = 4, seconds = 5, places = {}, replicates = 5 }
    published = {
      server = "xtradb51", rows = 10000000, threads = 16, seconds = 300, replicates = 1 # none of these three was published
      places = { data = "fusionio", redo = "raid10_bbu", binlog = "raid10_bbu" }
    }
  }[var.scale]
}

defaults {
  server  = server[local.size.server]
  storage = { for role, name in local.size.places : role => storage[name] }
  my_cnf  = { innodb_flush_method = "O_DIRECT", skip_log_bin = true }
}

axis "flush_log" {
  levels = [0, 1]
  my_cnf = { innodb_flush_log_at_trx_commit = level }
  label  = "trx_commit ${level}"
  phases = ["update_key"]
}

axis "binlog" {
  level "off" {
    label  = "no binary log"
    my_cnf = { skip_log_bin = true }
  }
  level "on" {
    label  = "binary log"
    my_cnf = { log_bin = true, binlog_format = "ROW" } # log_bin and skip_log_bin are one option
  }
  phases = ["update_key"]
}

axis "sync_binlog" {
  levels = [0, 1]
  my_cnf = { sync_binlog = level }
  label  = "sync_binlog ${level}"
  phases = ["update_key"]
}

matrix "without" {
  flush_log = "*"
  binlog    = ["off"]
}

matrix "with" {
  flush_log   = "*"
  binlog      = ["on"]
  sync_binlog = "*"
}

# One load for all cells: no axis reaches it.
phase "load" {
  snapshot { share = "replicates" }
  workload "sysbench" {
    script     = "oltp_update_index"
    step       = "prepare"
    engine     = "innodb"
    tables     = 1
    table_size = local.size.rows
  }
}

phase "update_key" {
  restart = true
  workload "sysbench" {
    script  = "oltp_update_index"
    step    = "run"
    threads = local.size.threads
    seconds = local.size.seconds
  }
}

text "question" {
  body = <<-MD
    How many durable transactions a second can a server commit, and what does each step of durability cost? The redo log may be
    flushed at every commit (innodb_flush_log_at_trx_commit = 1) or once a second (0); beside it there may be a binary log, which
    is left to the operating system (sync_binlog = 0) or synced at every commit (1). sysbench updates an indexed column of one
    table of ${local.size.rows} rows with ${local.size.threads} threads, for ${local.size.seconds} s in each of ${local.size.replicates} run(s) of
    each combination, all of which go on from copies of one load.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}, ${fact("data.filesystem")} on
    ${fact("data.device")}; ${fact("build.comment")} ${fact("build.version")}.
  MD
}

table "tps" {
  title   = "Transactions a second"
  phase   = "update_key"
  rows    = ["flush_log"]
  across  = ["binlog", "sync_binlog"]
  columns = ["tps"]
}

table "against the safest" {
  title    = "Each setting against the safest one"
  phase    = "update_key"
  rows     = ["flush_log", "binlog", "sync_binlog"]
  columns  = ["tps"]
  interval = true
  baseline = { flush_log = "1", binlog = "on", sync_binlog = "1" }
  column "wkb/t" {}
  column "against the safest" {
    of       = "tps"
    relative = true
  }
  label { heading = "setting" }
}

chart "tps" {
  kind   = "bar"
  title  = "Transactions a second"
  phase  = "update_key"
  x      = "flush_log"
  y      = "tps"
  series = ["binlog", "sync_binlog"]
}

# The results of the original were not in what was kept of it. These are the
# questions that it asks, each with the number that answers it.
text "findings" {
  body = join("\n", concat(
    [
      "## What durability costs here", "",
      "The original's results are not in what was kept of it, only its question. This is the answer of this machine; whether a",
      "difference is more than chance, the table above says (`~`: it is not).", "",
      "| step | tps without | tps with | with / without |", "| --- | ---: | ---: | ---: |",
    ],
    [for s in [
      { says = "redo log flushed at each commit, no binary log", a = at("flush_log=0,binlog=off", "tps", "update_key"), b = at("flush_log=1,binlog=off", "tps", "update_key") },
      { says = "a binary log, not synced; redo flushed once a second", a = at("flush_log=0,binlog=off", "tps", "update_key"), b = at("flush_log=0,binlog=on,sync_binlog=0", "tps", "update_key") },
      { says = "the binary log synced, redo flushed once a second", a = at("flush_log=0,binlog=on,sync_binlog=0", "tps", "update_key"), b = at("flush_log=0,binlog=on,sync_binlog=1", "tps", "update_key") },
      { says = "the binary log synced, redo flushed at each commit", a = at("flush_log=1,binlog=on,sync_binlog=0", "tps", "update_key"), b = at("flush_log=1,binlog=on,sync_binlog=1", "tps", "update_key") },
      { says = "everything against nothing", a = at("flush_log=0,binlog=off", "tps", "update_key"), b = at("flush_log=1,binlog=on,sync_binlog=1", "tps", "update_key") },
    ] : format("| %s | %.0f | %.0f | %.2f |", s.says, s.a, s.b, s.b / s.a)],
    fact("data.write_cache") != "write back" ? [""] : [
      "",
      "**These are not rates of durable commits.** The device says that its write cache is \"write back\", and it is a virtual one:",
      "an fsync returns when the host has the data, in tens of microseconds, and nothing here shows that a power cut would spare",
      "it. On a disk whose cache is safe or off, the steps above cost far more; see [fsync-rate](../fsync-rate/RESULTS.md).",
    ],
  ))
}
