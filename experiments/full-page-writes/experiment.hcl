# What compressing full-page images saves of the write-ahead log, and what it
# costs in transactions.
#
# At the published scale these are PostgreSQL's development code of 2013 and a
# patched build, whose full_page_writes takes "compress". The small scale uses
# PostgreSQL 17, where wal_compression does that.
experiment {
  title  = "Compression of full-page images in the write-ahead log"
  source = "pgsql-hackers, October 2013: Compression of full-page-writes"
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

server "pg17" {
  flavour     = "postgres"
  min_version = "17"
}

server "pg_head" { flavour = "postgres" }
server "pg_fpwcompress" { flavour = "postgres" }

locals {
  size = {
    small = {
      scale = 10, wal = { max_wal_size = "20GB" }
      pivot = [{ name = "20s", seconds = 20 }, { name = "60s", seconds = 60 }]
      lists = { name = "40s", seconds = 40 }
    }
    published = {
      scale = 100, wal = { checkpoint_segments = 1000 }
      pivot = [{ name = "5min", seconds = 300 }, { name = "15min", seconds = 900 }]
      lists = { name = "900s", seconds = 900 }
    }
  }[var.scale]

  fpw = {
    small = {
      head     = { server = "pg17", conf = { full_page_writes = true, wal_compression = false } }
      on       = { server = "pg17", conf = { full_page_writes = true, wal_compression = false } }
      compress = { server = "pg17", conf = { full_page_writes = true, wal_compression = "pglz" } }
      off      = { server = "pg17", conf = { full_page_writes = false, wal_compression = false } }
    }
    published = {
      head     = { server = "pg_head", conf = {} }
      on       = { server = "pg_fpwcompress", conf = { full_page_writes = true } }
      compress = { server = "pg_fpwcompress", conf = { full_page_writes = "compress" } }
      off      = { server = "pg_fpwcompress", conf = { full_page_writes = false } }
    }
  }[var.scale]
}

defaults {
  postgresql_conf = merge(local.size.wal, { checkpoint_timeout = "1h" }) # no checkpoint falls into a run
  params          = { mode = "simple", after = [] }
}

axis "workload" {
  level "Pgbench-org" {}
  level "Pgbench-1000" {
    description = "rows of 1000 bytes"
    params      = { after = ["alter table pgbench_accounts alter filler type char(900)"] }
  }
}

axis "duration" {
  dynamic "level" {
    for_each = local.size.pivot
    iterator = d
    labels   = [d.value.name]
    content {
      params = { seconds = d.value.seconds }
    }
  }
  dynamic "level" {
    for_each = [local.size.lists]
    iterator = d
    labels   = [d.value.name]
    content {
      params = { seconds = d.value.seconds, mode = "prepared" }
    }
  }
}

axis "threads" {
  level "1" {
    params = { threads = 1 }
    label  = "Thread-1"
  }
  level "2" {
    params = { threads = 2 }
    label  = "Threads-2"
  }
}

axis "fpw" {
  level "head" {
    server          = server[local.fpw.head.server]
    postgresql_conf = local.fpw.head.conf
    label           = "Head code"
  }
  level "on" {
    server          = server[local.fpw.on.server]
    postgresql_conf = local.fpw.on.conf
  }
  level "compress" {
    server          = server[local.fpw.compress.server]
    postgresql_conf = local.fpw.compress.conf
    label           = "FPW compress"
  }
  level "off" {
    server          = server[local.fpw.off.server]
    postgresql_conf = local.fpw.off.conf
  }
}

# Two measurements by two people, not to be compared with each other.
matrix "pivot" {
  workload = "*"
  duration = [for d in local.size.pivot : d.name]
  threads  = "*"
  fpw      = ["head", "compress"]
}

matrix "lists" {
  duration = [local.size.lists.name]
  threads  = ["1"]
  fpw      = ["on", "compress", "off"]
}

# The durations and threads go on from one load; the options of fpw hold for it too.
phase "init" {
  snapshot = true
  workload "pgbench" {
    step       = "init"
    scale      = local.size.scale
    after_load = param.after
  }
}

phase "run" {
  workload "pgbench" {
    step    = "run"
    mode    = param.mode
    threads = param.threads
    clients = param.threads
    seconds = param.seconds
  }
}

table "tps-wal" {
  only   = cell.matrix == "pivot"
  phase  = "run"
  rows   = ["duration", "workload"]
  across = ["threads", "fpw"]
  column "tps (wal)" {
    heading = ""
    cell    = "{tps}({wal_gb}GB)"
  }
  label {
    heading = ""
    text    = "${label.workload} ${label.duration}"
    side    = "left"
  }
}

# Lists: one value a line, its level behind it.
table "wal-volume" {
  only  = cell.matrix == "lists"
  phase = "run"
  rows  = ["fpw"]
  column "wal" {
    heading = "WAL Volume"
    cell    = "- {wal_mb} MB"
  }
  label {
    heading = ""
    text    = axis.fpw == "on" ? "(full_page_writes = on)" : "(${axis.fpw})"
  }
}

table "tps" {
  only  = cell.matrix == "lists"
  phase = "run"
  rows  = ["fpw"]
  column "tps" {
    heading = "TPS"
    format  = "%.6f"
  }
  label {
    heading = ""
    text    = "(${axis.fpw})"
  }
}

# the numbers as they were published: report --source published --var scale=published
import "published" { file = "published.csv" }
