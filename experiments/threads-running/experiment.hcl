# How many queries run at once, compared with the number of clients: the server's
# own count, read each second. The original shows one number of clients and one
# reading; builds and sizes are ours.
experiment {
  title  = "Running threads against clients"
  source = "MySQL Performance Blog, 2010: sampling of running threads"
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

locals {
  size = {
    small     = { server = "mysql97", rows = 100000, seconds = 10, clients = [1, 2, 4, 8, 16, 32] }
    published = { server = "mysql55", rows = 1000000, seconds = 60, clients = [32] }
  }[var.scale]
}

defaults {
  server = server[local.size.server]
}

axis "clients" {
  levels = local.size.clients
  params = { clients = level }
}

phase "load" {
  snapshot = true
  workload "sysbench" {
    script     = "oltp_point_select"
    step       = "prepare"
    engine     = "innodb"
    tables     = 1
    table_size = local.size.rows
  }
}

phase "run" {
  workload "sysbench" {
    script  = "oltp_point_select"
    step    = "run"
    threads = param.clients
    seconds = local.size.seconds
  }
  sample { status = ["Threads_running"] }
}

chart "running" {
  kind   = "line"
  phase  = "run"
  x      = "time"
  y      = "status_threads_running"
  series = ["clients"]
}
