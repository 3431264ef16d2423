# TPC-C on data larger than memory, on a slow place and on one with a faster
# second-level cache in front, which does not hold all the data either.
#
# At the published scale the slow place is a RAID and the cache is FlashCache on
# an SSD. What the small scale puts in their stead, the machine file says.
experiment {
  title  = "TPC-C with a second-level cache in front of the data"
  source = "MySQL Performance Blog, 2010: FlashCache with tpcc, data larger than the cache"
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

storage "slow" {}
storage "cached" {}
storage "raid" {}
storage "flashcache" {}

locals {
  size = {
    small = {
      server = "mariadb118", warehouses = 4, clients = 4, seconds = 60, pool = "96M"
      places = [{ name = "slow", storage = "slow" }, { name = "cached", storage = "cached" }]
    }
    published = {
      server = "mysql55", warehouses = 1000, clients = 16, seconds = 3600, pool = "22G" # build, clients and seconds were not published
      places = [{ name = "RAID", storage = "raid" }, { name = "FlashCache", storage = "flashcache" }]
    }
  }[var.scale]
}

defaults {
  server = server[local.size.server]
  my_cnf = {
    innodb_buffer_pool_size = local.size.pool
    innodb_flush_method     = "O_DIRECT"
  }
}

axis "place" {
  dynamic "level" {
    for_each = local.size.places
    iterator = p
    labels   = [p.value.name]
    content {
      storage = storage[p.value.storage]
    }
  }
}

phase "load" {
  workload "tpcc" {
    step       = "load"
    warehouses = local.size.warehouses
    engine     = "innodb"
  }
}

phase "run" {
  restart = true
  cache   = "cold"
  workload "tpcc" {
    step    = "run"
    clients = local.size.clients
    seconds = local.size.seconds
  }
}

table "run" {
  phase   = "run"
  rows    = ["place"]
  columns = ["tpm", "r/s", "rmb/s", "wmb/s", "cpu"]
}

chart "tpm" {
  kind   = "line"
  phase  = "run"
  x      = "time"
  y      = "tpm"
  series = ["place"]
}
