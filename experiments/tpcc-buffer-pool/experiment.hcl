# TPC-C with a buffer pool that holds all the data, then less and less of it:
# throughput over time, one line for each size.
#
# At the published scale this is MySQL 5.5.4. The small scale uses MariaDB 11.8.
experiment {
  title  = "TPC-C under a shrinking buffer pool"
  source = "MySQL Performance Blog, 2010: buffer pool 20GB to 6GB, tpcc with 200 warehouses, MySQL 5.5.4"
}

variable "scale" {
  description = "small: two cores and minutes; published: the build and sizes of the original; tiny: seconds, to see that everything works here"
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

server "mysql55" { flavour = "mysql" }

locals {
  size = {
    tiny = {
      server   = "mariadb118", warehouses = 1, clients = 2, seconds = 3
      log_file = "64M", log_files = null
      pools    = ["128M", "32M"]
    }
    small = {
      server   = "mariadb118", warehouses = 2, clients = 4, seconds = 30
      log_file = "256M", log_files = null
      pools    = ["300M", "200M", "150M", "100M", "75M"] # of some 220M of data, as much less as there
    }
    published = {
      server   = "mysql55", warehouses = 200, clients = 16, seconds = 3600 # clients and seconds were not published
      log_file = "1900M", log_files = 2
      pools    = [for g in range(20, 5, -2) : "${g}G"] # the steps between were not published
    }
  }[var.scale]

  largest  = local.size.pools[0]
  smallest = local.size.pools[length(local.size.pools) - 1]
}

# Direct I/O: what the pool does not hold is read from the device, not from the
# page cache.
defaults {
  server = server[local.size.server]
  my_cnf = {
    innodb_log_file_size      = local.size.log_file
    innodb_log_files_in_group = local.size.log_files # null: not written
    innodb_flush_method       = "O_DIRECT"
    innodb_snapshot_isolation = var.scale == "published" ? null : false # the new default fails transactions that MySQL 5.5 let pass
    skip_log_bin              = true
  }
}

# Only the run has this axis: all sizes go on from one load.
axis "pool" {
  levels = local.size.pools
  my_cnf = { innodb_buffer_pool_size = level }
  phases = ["run"]
}

phase "load" {
  my_cnf   = { innodb_buffer_pool_size = local.largest }
  snapshot = true
  workload "tpcc" {
    step       = "load"
    warehouses = local.size.warehouses
    clients    = 2
    engine     = "innodb"
  }
}

phase "run" {
  restart = true
  workload "tpcc" {
    step    = "run"
    clients = local.size.clients
    seconds = local.size.seconds
  }
}

text "question" {
  body = <<-MD
    How does TPC-C slow down as the buffer pool shrinks below the data? ${local.size.warehouses} warehouses, ${local.size.clients} clients, ${local.size.seconds} s with each pool from
    ${local.largest} down to ${local.smallest}; each run starts with a cold pool on a copy of one load, with direct I/O. The original plots
    throughput over time, one line for each size.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}, ${fact("data.filesystem")} on
    ${fact("data.device")}; ${fact("build.comment")} ${fact("build.version")}.
  MD
}

# tps, and not the program's tpm: that adds up a rate for each kind of transaction
# since its first one, which is far too much where a run is short.
table "run" {
  title    = "Transactions a second, and what reached the device"
  phase    = "run"
  rows     = ["pool"]
  baseline = { pool = local.largest }
  columns  = ["tps", "r/t", "rkb/t", "wkb/t", "Mcpu/t", "rmb/s", "wmb/s", "cpu"]
  column "relative" {
    of       = "tps"
    relative = true
  }
  column "data gb" {
    of     = "size.data"
    format = "%.2f"
  }
  label { heading = "pool" }
}

chart "tps" {
  kind   = "line"
  title  = "Transactions a second over time"
  phase  = "run"
  x      = "time"
  y      = "tps"
  series = ["pool"]
}

text "findings" {
  body = join("\n", concat(
    [
      "## What the original says, and what these numbers say", "",
      "Of the original its set-up was kept, and that its one plot is to show trends; its numbers were not. What these say:", "",
      "| step | tps | tps | ratio |", "| --- | ---: | ---: | ---: |",
    ],
    [for i in range(1, length(local.size.pools)) : format("| %s to %s | %.1f | %.1f | %.2f |",
      local.size.pools[i - 1], local.size.pools[i],
      at("pool=${local.size.pools[i - 1]}", "tps", "run"), at("pool=${local.size.pools[i]}", "tps", "run"),
    at("pool=${local.size.pools[i]}", "tps", "run") / at("pool=${local.size.pools[i - 1]}", "tps", "run"))],
    [
      "",
      format("From %s to %s, which holds about a third of the data as there, %.2f of the throughput is left, and reads for each transaction go from %.1f to %.1f.",
        local.largest, local.smallest,
        at("pool=${local.smallest}", "tps", "run") / at("pool=${local.largest}", "tps", "run"),
      at("pool=${local.largest}", "r/t", "run"), at("pool=${local.smallest}", "r/t", "run")),
      "Each size ran once (n = 1): too few to judge differences between neighbours. Where the data is in the cache of the virtual",
      "disk's host, a read costs less here than on any device of 2010.",
    ],
  ))
}
