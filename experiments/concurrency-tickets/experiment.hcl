# innodb_concurrency_tickets: how often a thread may enter InnoDB before it is
# checked again. It can matter only where innodb_thread_concurrency sets a limit.
#
# At the published scale this is MySQL 5.5, whose default is 500. The small scale
# uses MySQL 9.7, whose default is 5000; MariaDB has neither option today.
experiment {
  title  = "innodb_concurrency_tickets under a limit of threads"
  source = "MySQL Performance Blog, 2010: on innodb_concurrency_tickets"
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

server "mysql97" {
  flavour     = "mysql"
  min_version = "9.7"
}

server "mysql55" { flavour = "mysql" }

# The original names no numbers: all of these are ours.
locals {
  size = {
    small = {
      server  = "mysql97", rows = 100000, seconds = 10, clients = [1, 2, 4, 8, 16]
      limits  = [0, 2, 4]
      tickets = [1, 500, 5000], default = "5000"
    }
    published = {
      server  = "mysql55", rows = 1000000, seconds = 60, clients = [1, 2, 4, 8, 16, 32, 64]
      limits  = [0, 8, 16]
      tickets = [1, 500, 5000], default = "500"
    }
  }[var.scale]
}

defaults {
  server = server[local.size.server]
}

axis "concurrency" {
  levels = local.size.limits
  my_cnf = { innodb_thread_concurrency = level }
  phases = ["run"]
}

axis "tickets" {
  levels = local.size.tickets
  my_cnf = { innodb_concurrency_tickets = level }
  phases = ["run"]
}

axis "clients" {
  levels = local.size.clients
  params = { clients = level }
}

exclude {
  when   = axis.concurrency == "0" && axis.tickets != local.size.default
  reason = "without a limit no tickets are handed out"
}

phase "load" {
  snapshot = true
  workload "sysbench" {
    script     = "oltp_read_only"
    step       = "prepare"
    engine     = "innodb"
    tables     = 8
    table_size = local.size.rows
  }
}

phase "run" {
  restart = true
  workload "sysbench" {
    script  = "oltp_read_only"
    step    = "run"
    threads = param.clients
    seconds = local.size.seconds
  }
  sample { status = ["Threads_running"] }
}

table "qps" {
  phase   = "run"
  rows    = ["concurrency", "tickets"]
  across  = ["clients"]
  columns = ["qps"]
}
