# What durability costs: the redo log flushed at each commit or not, without the
# binary log, and with it synced or not. sync_binlog says something only where
# there is a binary log.
#
# At the published scale this is XtraDB 5.1.43, with its logs on a RAID of their
# own. The small scale uses MariaDB 11.8 in one place.
experiment {
  title  = "Durability settings under updates of an indexed column"
  source = "MySQL Performance Blog, 2010: durability settings with sysbench update_key"
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

server "mariadb118" {
  flavour     = "mariadb"
  min_version = "11.8"
}

server "xtradb51" { flavour = "mysql" }

storage "fusionio" {}
storage "raid10_bbu" {}

locals {
  size = {
    small = { server = "mariadb118", rows = 200000, threads = 4, seconds = 20, places = {} }
    published = {
      server = "xtradb51", rows = 10000000, threads = 16, seconds = 300 # none of these three was published
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
  level "off" { my_cnf = { skip_log_bin = true } }
  level "on" { my_cnf = { log_bin = true, binlog_format = "ROW" } } # log_bin and skip_log_bin are one option
  phases = ["update_key"]
}

axis "sync_binlog" {
  levels = [0, 1]
  my_cnf = { sync_binlog = level }
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
  snapshot = true
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

table "tps" {
  phase   = "update_key"
  rows    = ["flush_log"]
  across  = ["binlog", "sync_binlog"]
  columns = ["tps"]
}
