# TPC-C on data larger than memory, on a slow place and on one with a faster
# second-level cache in front, which does not hold all the data either.
#
# At the published scale the slow place is a RAID and the cache is FlashCache on
# an SSD. The small scale has neither: its slow place is a loop image whose device
# is throttled, and its cache is the page cache in front of it, bounded by a memory
# limit on the server. README.md says what that is not.
experiment {
  title  = "TPC-C with a second-level cache in front of the data"
  source = "MySQL Performance Blog, 2010: FlashCache with tpcc, data larger than the cache"
}

variable "scale" {
  description = "small: two cores and minutes; published: the places and sizes of the original; tiny: seconds, to see that everything works here"
  type        = string
  default     = "small"
  validation {
    condition     = contains(["tiny", "small", "published"], var.scale)
    error_message = "scale is tiny, small or published."
  }
}

# The server joins the memory cgroup that the level "cached" makes, where there is
# one. prefix stands before the server's command in every cell.
server "mariadb118" {
  flavour     = "mariadb"
  min_version = "11.8"
  prefix      = ["sh", "-c", "[ -z \"$MEMORY_GROUP\" ] || echo $$ >/sys/fs/cgroup/memory/dbmatrix-$MEMORY_GROUP/cgroup.procs; exec \"$@\"", "sh"]
}

server "mysql55" { flavour = "mysql" }

# ext4 on a loop image of its own: scripts/storages.sh makes it.
storage "tier" {}
storage "raid" {}
storage "flashcache" {}

locals {
  size = {
    tiny = {
      server = "mariadb118", warehouses = 1, clients = 2, seconds = 3, pool = "48M", limit = "500M", rate = 8388608
      first  = "slow", second = "cached"
    }
    small = {
      server = "mariadb118", warehouses = 2, clients = 4, seconds = 45, pool = "48M", limit = "400M", rate = 16777216
      first  = "slow", second = "cached"
    }
    published = {
      server = "mysql55", warehouses = 1000, clients = 16, seconds = 3600, pool = "22G", limit = null, rate = null # build, clients and seconds were not published
      first  = "RAID", second = "FlashCache"
    }
  }[var.scale]

  # A level of the small scale changes how one place is used while the run lasts; a
  # level of the published scale is a place, from the load on.
  throttle   = [["./throttle.sh", "{storage}", local.size.rate == null ? "0" : tostring(local.size.rate)]]
  unthrottle = [["./throttle.sh", "{storage}", "0"]]
  here = [
    { name = "slow", description = "direct I/O on a throttled device", storage = "tier", setup = local.throttle, teardown = local.unthrottle, flush = "O_DIRECT", group = null },
    {
      name     = "cached", description = "the same device behind the page cache, within the memory limit", storage = "tier", flush = "fsync", group = "tier"
      setup    = concat(local.throttle, [["./memory.sh", "up", "tier", local.size.limit]])
      teardown = concat(local.unthrottle, [["./memory.sh", "down", "tier"]])
    },
    { name = "fast", description = "direct I/O on the device, not throttled", storage = "tier", setup = null, teardown = null, flush = "O_DIRECT", group = null },
  ]
  there = [
    { name = "RAID", description = "the RAID alone", storage = "raid", setup = null, teardown = null, flush = "O_DIRECT", group = null },
    { name = "FlashCache", description = "the RAID behind FlashCache on an SSD", storage = "flashcache", setup = null, teardown = null, flush = "O_DIRECT", group = null },
  ]
  places = { tiny = local.here, small = local.here, published = local.there }[var.scale]
}

defaults {
  server  = server[local.size.server]
  storage = var.scale == "published" ? null : storage.tier
  my_cnf = {
    innodb_buffer_pool_size   = local.size.pool
    innodb_snapshot_isolation = var.scale == "published" ? null : false # the new default fails transactions that MySQL 5.5 let pass
    skip_log_bin              = true
  }
}

axis "place" {
  dynamic "level" {
    for_each = local.places
    iterator = p
    labels   = [p.value.name]
    content {
      description = p.value.description
      phases      = var.scale == "published" ? null : ["run"]
      storage     = var.scale == "published" ? storage[p.value.storage] : null
      my_cnf      = { innodb_flush_method = p.value.flush }
      env         = p.value.group == null ? null : { MEMORY_GROUP = p.value.group }
      setup       = p.value.setup
      teardown    = p.value.teardown
    }
  }
}

phase "load" {
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
  cache   = "cold"
  workload "tpcc" {
    step    = "run"
    clients = local.size.clients
    seconds = local.size.seconds
  }
}

text "question" {
  body = <<-MD
    What does a second-level cache do for TPC-C when neither memory nor the cache holds the data? ${local.size.warehouses} warehouses,
    ${local.size.clients} clients, a buffer pool of ${local.size.pool}, ${local.size.seconds} s from a cold start in each place:

    ${join("\n", [for p in local.places : "* *${p.name}*: ${p.description}"])}
    ${local.size.rate == null ? "" : format("\nThrottled means %.0f MB/s of reads and as many of writes. The memory limit of the cached server is %s, its own memory included.", local.size.rate / 1048576, local.size.limit)}

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}, ${fact("data.filesystem")};
    ${fact("build.comment")} ${fact("build.version")}.
  MD
}

# tps, and not the program's tpm: that adds up a rate for each kind of transaction
# since its first one, which is far too much where a run is short.
table "run" {
  title    = "Transactions a second, and what reached the device"
  phase    = "run"
  rows     = ["place"]
  baseline = { place = local.size.first }
  columns  = ["tps", "r/s", "rmb/s", "wmb/s", "cpu"]
  column "relative" {
    of       = "tps"
    relative = true
  }
  label { heading = "place" }
}

chart "tps" {
  kind   = "line"
  title  = "Transactions a second over time"
  phase  = "run"
  x      = "time"
  y      = "tps"
  series = ["place"]
}

text "findings" {
  body = join("\n", concat(
    [
      "## What the original says, and what these numbers say", "",
      "| the original | here | |", "| --- | --- | --- |",
    ],
    [for s in [
      {
        says = "any gain comes from read hits: the cached place serves more transactions"
        here = "tps"
        a    = at("place=${local.size.second}", "tps", "run")
        b    = at("place=${local.size.first}", "tps", "run")
      },
      {
        says = "reads that hit do not reach the slow device: it reads less for each transaction"
        here = "kB read for each transaction, slow against cached"
        a    = at("place=${local.size.first}", "rkb/t", "run")
        b    = at("place=${local.size.second}", "rkb/t", "run")
      },
      ] : format("| %s | %s: %.1f against %.1f | %s |", s.says, s.here, s.a, s.b,
    s.a > 1.1 * s.b ? "as there" : s.b > 1.1 * s.a ? "not as there" : "too close to tell")],
    [
      "",
      "How much FlashCache gains cannot be judged here. The page cache forgets at a restart, keeps what it writes only until the",
      "next fsync asks for it, and lies in memory; FlashCache keeps reads and writes on an SSD across restarts and destages them in",
      "the background. Each place ran once (n = 1): differences below 10 % are called too close to tell, and one above may be chance.",
    ],
  ))
}
