# InnoDB's transparent page compression, which punches holes into the files,
# against compressed row format: load, queries over many hours, and the drop.
#
# At the published scale these are Facebook's MySQL 5.6 and MySQL 5.7.8. The small
# scale stands in for them with MariaDB 11.8 and MySQL 9.7.
experiment {
  title  = "Transparent page compression against compressed row format"
  source = "Small Datum, 2015: Third day with InnoDB transparent page compression"
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
server "mysql97" {
  flavour     = "mysql"
  min_version = "9.7"
}

server "fb56" { flavour = "mysql" }
server "orig57" { flavour = "mysql" }

locals {
  size = {
    small = {
      maxid1 = 100001, loaders = 2, requesters = 4, seconds = 5, cache = "64M"
      first  = "inno118", second = "inno97", servers = ["mariadb118", "mysql97"]
      long   = range(2, 15, 2), short = [2, 6, 12]
    }
    published = {
      maxid1 = 1e8, loaders = 10, requesters = 20, seconds = 3600, cache = null # not published
      first  = "fb56", second = "orig578", servers = ["fb56", "orig57"]
      long   = range(20, 141, 20), short = [2, 12, 24]
    }
  }[var.scale]
}

defaults {
  my_cnf = { innodb_buffer_pool_size = local.size.cache } # null: not written
}

axis "binary" {
  dynamic "level" {
    for_each = [local.size.first, local.size.second]
    iterator = b
    labels   = [b.value]
    content {
      server = server[local.size.servers[b.key]]
    }
  }
}

axis "partitioning" {
  level "p0" { params = { partitions = 0 } }
  level "p1" { params = { partitions = 32 } }
}

axis "compression" {
  level "old-style" { params = { compression = "table" } }
  level "transparent" { params = { compression = "transparent" } }
}

# Two tests, which differ in how long they run: that is a param of the matrix,
# since no axis decides it.
matrix "5.6 against 5.7" {
  zip          = [["binary", "partitioning", "compression"]]
  binary       = [local.size.first, local.size.second]
  partitioning = ["p1", "p0"]
  compression  = ["old-style", "transparent"]
  params       = { hours = max(local.size.long...) }
}

matrix "old-style against transparent" {
  binary       = [local.size.second]
  partitioning = ["p1"]
  compression  = ["old-style", "transparent"]
  params       = { hours = max(local.size.short...) }
}

phase "load" {
  workload "linkbench" {
    step           = "load"
    maxid1         = local.size.maxid1
    loaders        = local.size.loaders
    engine         = "innodb"
    partitions     = param.partitions
    compression    = param.compression
    key_block_size = param.compression == "table" ? 8 : null # half of a 16k page
  }
}

phase "query" {
  iterations = param.hours
  workload "linkbench" {
    step       = "query"
    requesters = local.size.requesters
    seconds    = local.size.seconds
  }
}

phase "drop" {
  workload "sql" { statements = ["drop database linkdb0"] }
}

table "fb56-vs-orig578" {
  only      = cell.matrix == "5.6 against 5.7"
  transpose = true
  rows      = ["binary"]

  column "ips" {
    phase   = "load"
    heading = "ips"
  }
  dynamic "column" {
    for_each = local.size.long
    iterator = hour
    labels   = ["qps@${hour.value}"]
    content {
      of        = "qps"
      phase     = "query"
      iteration = hour.value
      heading   = "qps@${hour.value}"
    }
  }

  label {
    heading = ""
    text    = axis.binary
  }
}

table "old-style-vs-transparent" {
  only      = cell.matrix == "old-style against transparent"
  transpose = true
  rows      = ["compression"]

  column "ips" {
    phase   = "load"
    heading = "ips"
  }
  dynamic "column" {
    for_each = local.size.short
    iterator = hour
    labels   = ["qps@${hour.value}"]
    content {
      of        = "qps"
      phase     = "query"
      iteration = hour.value
      heading   = "qps@${hour.value}"
    }
  }

  label {
    heading = ""
    text    = "${var.scale == "published" ? "578" : axis.binary}, ${axis.compression}"
  }
}

# The original tells these in prose: what a drop costs, and what the files take.
table "drop" {
  rows = ["binary", "partitioning", "compression"]

  column "size" {
    phase   = "load"
    heading = ["load", "size"]
  }
  column "size.apparent" {
    phase   = "load"
    heading = ["load", "size.apparent"]
  }
  column "secs" {
    phase   = "drop"
    format  = "%.2f"
    heading = ["drop", "secs"]
  }

  label { heading = "config" }
}

# the numbers as they were published: report --source published --var scale=published
import "published" { file = "published.csv" }
