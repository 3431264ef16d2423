# innodb_concurrency_tickets: how often a thread may enter InnoDB before it is
# checked again. It can matter only where innodb_thread_concurrency sets a limit.
#
# At the published scale this is MySQL 5.5, whose default is 500. The small scale
# uses MySQL 9.7, whose default is 5000; MariaDB has neither option today.
experiment {
  title      = "innodb_concurrency_tickets under a limit of threads"
  source     = "MySQL Performance Blog, 2010: on innodb_concurrency_tickets"
  replicates = local.size.replicates
}

variable "scale" {
  description = "small: two cores and minutes; published: the build of the original, sizes as one would choose for it; tiny: seconds, to see that everything works here"
  type        = string
  default     = "small"
  validation {
    condition     = contains(["tiny", "small", "published"], var.scale)
    error_message = "scale is tiny, small or published."
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
    tiny = {
      server     = "mysql97", rows = 2000, seconds = 1, clients = [2, 8]
      limits     = [0, 2]
      tickets    = [1, 5000], default = "5000"
      replicates = 1
    }
    small = {
      server     = "mysql97", rows = 20000, seconds = 5, clients = [2, 8, 32]
      limits     = [0, 2]
      tickets    = [1, 100, 5000], default = "5000"
      replicates = 5
    }
    published = {
      server     = "mysql55", rows = 1000000, seconds = 60, clients = [1, 2, 4, 8, 16, 32, 64]
      limits     = [0, 8, 16]
      tickets    = [1, 500, 5000], default = "500"
      replicates = 1
    }
  }[var.scale]

  # The cells that the text below speaks of: the lowest limit, the most clients.
  limit   = local.size.limits[1]
  fewest  = local.size.tickets[0]
  clients = local.size.clients[length(local.size.clients) - 1]
}

defaults {
  server = server[local.size.server]
  my_cnf = { skip_log_bin = true }
}

axis "concurrency" {
  levels = local.size.limits
  my_cnf = { innodb_thread_concurrency = level }
  label  = level == 0 ? "no limit" : "limit ${level}"
  phases = ["run"]
}

axis "tickets" {
  levels = local.size.tickets
  my_cnf = { innodb_concurrency_tickets = level }
  label  = "tickets ${level}"
  phases = ["run"]
}

axis "clients" {
  levels = local.size.clients
  params = { clients = level }
  label  = level == 1 ? "1 client" : "${level} clients"
}

exclude {
  when   = axis.concurrency == "0" && axis.tickets != local.size.default
  reason = "without a limit no tickets are handed out"
}

phase "load" {
  snapshot { share = "replicates" }
  workload "sysbench" {
    script     = "oltp_read_only"
    step       = "prepare"
    engine     = "innodb"
    tables     = 8
    table_size = local.size.rows
  }
}

# Range scans of a hundred rows each use up tickets; point selects alone do not.
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

text "question" {
  body = <<-MD
    InnoDB lets no more than innodb_thread_concurrency threads in at once; one that is in may leave and enter again as often as it
    has tickets. Many tickets let a query finish without queueing again, few give way to others. Does the number of tickets
    matter, and when? The original explains the parameter and gives no numbers; limits, tickets and clients are ours. sysbench
    runs its read-only transactions (point selects and ranges of 100 rows) on 8 tables of ${local.size.rows} rows, all in memory, for
    ${local.size.seconds} s in each of ${local.size.replicates} run(s), and the server's own Threads_running is read every second.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}, ${fact("data.filesystem")} on
    ${fact("data.device")}; ${fact("build.comment")} ${fact("build.version")}.
  MD
}

table "qps" {
  title   = "Queries a second"
  phase   = "run"
  rows    = ["concurrency", "tickets"]
  across  = ["clients"]
  columns = ["qps"]
}

# One table for each number of clients, with what the limit and the tickets change.
dynamic "table" {
  for_each = local.size.clients
  iterator = c
  labels   = ["${c.value} clients"]
  content {
    title    = "${c.value} clients: against no limit"
    phase    = "run"
    only     = axis.clients == tostring(c.value)
    rows     = ["concurrency", "tickets"]
    columns  = ["qps"]
    interval = true
    baseline = { concurrency = "0", tickets = local.size.default }
    column "against no limit" {
      of       = "qps"
      relative = true
    }
    column "p99.transaction" {}
    label { heading = "setting" }
  }
}

chart "qps" {
  kind   = "line"
  title  = "Queries a second by clients"
  phase  = "run"
  x      = "clients"
  y      = "qps"
  series = ["concurrency", "tickets"]
}

chart "running" {
  kind   = "line"
  title  = "Threads_running, ${local.clients} clients"
  phase  = "run"
  x      = "time"
  y      = "status_threads_running"
  only   = axis.clients == tostring(local.clients)
  series = ["concurrency", "tickets"]
}

text "findings" {
  body = join("\n", concat(
    [
      "## What the original says, and what these numbers say", "",
      "The original is prose: tickets are counted down each time a thread enters InnoDB, and only a limit of threads gives them a",
      "meaning. With ${local.clients} clients:", "",
      "| statement | qps | qps | ratio |", "| --- | ---: | ---: | ---: |",
    ],
    [for s in [
      {
        says = "few tickets against the default, at most ${local.limit} threads inside"
        a    = at("concurrency=${local.limit},tickets=${local.fewest},clients=${local.clients}", "qps", "run")
        b    = at("concurrency=${local.limit},tickets=${local.size.default},clients=${local.clients}", "qps", "run")
      },
      {
        says = "a limit of ${local.limit} against none, default tickets"
        a    = at("concurrency=${local.limit},tickets=${local.size.default},clients=${local.clients}", "qps", "run")
        b    = at("concurrency=0,tickets=${local.size.default},clients=${local.clients}", "qps", "run")
      },
    ] : format("| %s | %.0f | %.0f | %.2f |", s.says, s.a, s.b, s.a / s.b)],
    [
      "",
      "Whether a difference is more than chance, the tables above say for each number of clients (`~`: it is not). That tickets",
      "mean nothing without a limit is not measured: the server hands out none then, so those cells are excluded.",
    ],
  ))
}
