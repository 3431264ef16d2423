# TPC-C with a buffer pool that holds all the data, then less and less of it:
# throughput over time, one line for each size.
#
# At the published scale this is MySQL 5.5.4. The small scale uses MariaDB 11.8.
experiment {
  title  = "TPC-C under a shrinking buffer pool"
  source = "MySQL Performance Blog, 2010: buffer pool 20GB to 6GB, tpcc with 200 warehouses, MySQL 5.5.4"
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

server "mysql55" { flavour = "mysql" }

locals {
  size = {
    small = {
      server   = "mariadb118", warehouses = 4, clients = 4, seconds = 60
      log_file = "256M", log_files = null
      pools    = ["400M", "320M", "240M", "160M", "120M"] # of some 360M of data
    }
    published = {
      server   = "mysql55", warehouses = 200, clients = 16, seconds = 3600 # clients and seconds were not published
      log_file = "1900M", log_files = 2
      pools    = [for g in range(20, 5, -2) : "${g}G"] # the steps between were not published
    }
  }[var.scale]
}

defaults {
  server = server[local.size.server]
  my_cnf = {
    innodb_log_file_size      = local.size.log_file
    innodb_log_files_in_group = local.size.log_files # null: not written
    innodb_flush_method       = "O_DIRECT"
  }
}

# Only the run has this axis: all sizes go on from one load.
axis "pool" {
  levels = local.size.pools
  my_cnf = { innodb_buffer_pool_size = level }
  phases = ["run"]
}

phase "load" {
  my_cnf   = { innodb_buffer_pool_size = local.size.pools[0] }
  snapshot = true
  workload "tpcc" {
    step       = "load"
    warehouses = local.size.warehouses
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

chart "tpm" {
  kind   = "line"
  phase  = "run"
  x      = "time"
  y      = "tpm"
  series = ["pool"]
}
