# sysbench's transactions, read only and with writes, on a slow place and on one
# with a faster second-level cache in front that holds all the data.
#
# At the published scale the slow place is a RAID and the cache is FlashCache on
# an SSD. What the small scale puts in their stead, the machine file says.
experiment {
  title  = "sysbench OLTP with a second-level cache that holds the data"
  source = "MySQL Performance Blog, 2010: FlashCache with sysbench, data fits in the cache"
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
      server = "mariadb118", rows = 400000, threads = 4, seconds = 20, pool = "32M"
      places = [{ name = "slow", storage = "slow" }, { name = "cached", storage = "cached" }]
    }
    published = {
      server = "mysql55", rows = 80000000, threads = 16, seconds = 3600, pool = "4G" # nothing of this line was published
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

axis "mode" {
  levels = ["read_only", "read_write"]
  params = { mode = level }
}

# Both modes go on from one load for each place.
phase "load" {
  snapshot = true
  workload "sysbench" {
    script     = "oltp_read_write"
    step       = "prepare"
    engine     = "innodb"
    tables     = 1
    table_size = local.size.rows
  }
}

phase "run" {
  workload "sysbench" {
    script  = "oltp_${param.mode}"
    step    = "run"
    threads = local.size.threads
    seconds = local.size.seconds
  }
}

table "tps" {
  phase   = "run"
  rows    = ["place"]
  across  = ["mode"]
  columns = ["tps"]
}
