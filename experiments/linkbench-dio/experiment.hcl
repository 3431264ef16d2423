# Linkbench on two builds of MyRocks, with and without compression and direct I/O.
#
# At the published scale these are Facebook's MyRocks of 16 June 2017 and 8 May
# 2018. The small scale stands in for them with MyRocks of MariaDB 10.11 and 11.8.
experiment {
  title  = "Linkbench on MyRocks: two builds, compression, direct I/O"
  source = "mdcallag, gist of 2018: linkbench id1=1b, 28 clients"
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

server "myrocks1011" {
  flavour     = "mariadb"
  min_version = "10.11"
}
server "myrocks118" {
  flavour     = "mariadb"
  min_version = "11.8"
}

server "myrocks_16jun17" { flavour = "mysql" }
server "myrocks_8may18" { flavour = "mysql" }

locals {
  size = {
    small     = { maxid1 = 100001, loaders = 2, requesters = 4, seconds = 5, block_cache = "64M", zstd = "kZSTDNotFinalCompression" } # MariaDB's name of it
    published = { maxid1 = 1e9, loaders = 4, requesters = 28, seconds = 3600, block_cache = "30G", zstd = "kZSTD" }
  }[var.scale]

  # The older build first.
  binaries = {
    small     = [{ name = "myrocks.1011", server = "myrocks1011" }, { name = "myrocks.118", server = "myrocks118" }]
    published = [{ name = "myrocks.16jun17", server = "myrocks_16jun17" }, { name = "myrocks.8may18", server = "myrocks_8may18" }]
  }[var.scale]
}

defaults {
  my_cnf = { rocksdb_block_cache_size = local.size.block_cache }
}

axis "binary" {
  dynamic "level" {
    for_each = local.binaries
    iterator = b
    labels   = [b.value.name]
    content {
      server = server[b.value.server]
    }
  }
}

axis "compression" {
  level "none" { my_cnf = { rocksdb_default_cf_options = { compression_per_level = "kNoCompression" } } }
  level "zstd" {
    my_cnf = {
      rocksdb_default_cf_options = {
        compression_per_level  = "kNoCompression:kLZ4Compression"
        bottommost_compression = local.size.zstd
      }
    }
  }
}

axis "io" {
  level "buffered" { label = "" }
  level "dio" {
    my_cnf = {
      rocksdb_use_direct_reads                       = true
      rocksdb_use_direct_io_for_flush_and_compaction = true
    }
  }
}

exclude {
  when   = pos.binary == 0 && axis.io == "dio"
  reason = "the older build was not measured with direct I/O"
}

phase "load" {
  workload "linkbench" {
    step    = "load"
    maxid1  = local.size.maxid1
    loaders = local.size.loaders
    engine  = "rocksdb"
  }
}

phase "query" {
  iterations = 12
  workload "linkbench" {
    step       = "query"
    requesters = local.size.requesters
    seconds    = local.size.seconds
  }
}

locals {
  engine = join(".", compact([label.binary, label.compression, label.io]))
}

table "load" {
  title   = "load, ldop=${local.size.loaders}"
  phase   = "load"
  rows    = ["compression", "binary", "io"]
  columns = ["ips", "r/i", "rkb/i", "wkb/i", "Mcpu/i", "size", "rss", "r/s", "rMB/s", "wMB/s", "cpu"]
  label {
    heading = "engine"
    text    = local.engine
  }
}

table "query-12h" {
  title     = "query @ 12h"
  phase     = "query"
  iteration = 12
  rows      = ["compression", "binary", "io"]
  columns   = ["tps", "r/t", "rkb/t", "wkb/t", "Mcpu/t", "size", "rss", "un", "gn", "ul", "gl", "r/s", "rMB/s", "wMB/s", "cpu"]
  label {
    heading = "engine"
    text    = local.engine
  }
}

# the numbers as they were published: report --source published --var scale=published
import "published" { file = "published.csv" }
