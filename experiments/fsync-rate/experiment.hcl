# How many times a second a place makes a 4 KiB write durable, which bounds the
# transactions that one thread can commit. No server: sysbench rewrites one file.
#
# At the published scale the places are a flash card and a RAID controller with a
# battery. The small scale varies the filesystem instead, on the one device that
# there is, and the call that makes the write durable.
experiment {
  title      = "Durable writes a second of one file"
  source     = "MySQL Performance Blog, 2010: fsync rate of a flash card and a RAID controller"
  replicates = local.size.replicates
}

variable "scale" {
  description = "small: two cores and minutes; published: the devices, sizes and durations of the original; tiny: seconds, to see that everything works here"
  type        = string
  default     = "small"
  validation {
    condition     = contains(["tiny", "small", "published"], var.scale)
    error_message = "scale is tiny, small or published."
  }
}

# ext4, xfs and btrfs on loop images: scripts/storages.sh makes them.
storage "ext4" {}
storage "xfs" {}
storage "btrfs" {}
storage "fusionio" {}
storage "perc6i" {}

locals {
  here = [ # the first is where data directories are by default
    { name = "host", storage = null, type = null },
    { name = "ext4", storage = "ext4", type = "ext4" },
    { name = "xfs", storage = "xfs", type = "xfs" },
    { name = "btrfs", storage = "btrfs", type = "btrfs" },
  ]
  size = {
    tiny  = { total = "16M", seconds = 1, replicates = 1, methods = ["fsync", "dsync"], places = local.here }
    small = { total = "128M", seconds = 5, replicates = 5, methods = ["fsync", "fdatasync", "dsync"], places = local.here }
    published = {
      total = "50G", seconds = 100, replicates = 1, methods = ["fsync"]
      places = [
        { name = "FusionIO", storage = "fusionio", type = null },
        { name = "PERC 6i RAID10 with BBU", storage = "perc6i", type = null },
      ]
    }
  }[var.scale]

  # How sysbench is told to make each write durable.
  methods = {
    fsync     = { file-fsync-all = "on", file-fsync-mode = "fsync" }
    fdatasync = { file-fsync-all = "on", file-fsync-mode = "fdatasync" }
    dsync     = { file-extra-flags = "dsync", file-fsync-freq = 0, file-fsync-end = "off" } # opened with O_DSYNC
  }

  # prepare and run must agree on these.
  file = { file-num = 1, file-total-size = local.size.total, file-block-size = 4096 }
}

axis "device" {
  dynamic "level" {
    for_each = local.size.places
    iterator = p
    labels   = [p.value.name]
    content {
      storage = p.value.storage == null ? null : storage[p.value.storage]
      # Fails where the place is not on the filesystem that its name says.
      setup = p.value.type == null ? null : [["findmnt", "--noheadings", "--types", p.value.type, "--target", "{storage}"]]
    }
  }
}

axis "method" {
  levels = local.size.methods
  params = { method = level }
}

phase "prepare" {
  workload "sysbench" {
    script  = "fileio"
    step    = "prepare"
    options = local.file
  }
}

phase "run" {
  workload "sysbench" {
    script  = "fileio"
    step    = "run"
    threads = 1
    seconds = local.size.seconds
    options = merge(local.file, local.methods[param.method], { file-test-mode = "seqrewr" })
  }
}

text "question" {
  body = <<-MD
    How many fsyncs a second, and so how many durable transactions of one thread, does a device give? sysbench rewrites one file of
    ${local.size.total} from end to end in writes of 4096 bytes, each of them made durable before the next, with one thread, for
    ${local.size.seconds} s in each of ${local.size.replicates} run(s). Here the *device* axis is a filesystem: *host* is where this machine keeps data
    directories, the others are loop images on that same disk. The *method* is what makes a write durable: fsync(), fdatasync(),
    or a file opened with O_DSYNC.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}, filesystems
    ${fact("data.filesystem")}.
  MD
}

table "fsync" {
  title   = "Durable writes a second"
  phase   = "run"
  rows    = ["device"]
  across  = ["method"]
  columns = ["writes/s"]
}

# The form of the original, which prints sysbench's own counts.
table "as sysbench prints it" {
  title = "Each write followed by an fsync"
  phase = "run"
  only  = axis.method == "fsync"
  rows  = ["device"]
  column "writes/s" { format = "%.2f" }
  column "fsyncs/s" { format = "%.2f" }
  column "MB/s" { format = "%.3f" }
  label { heading = "device" }
}

table "as published" {
  title  = "The same, as published"
  source = "published"
  phase  = "run"
  rows   = ["device"]
  legend = false
  column "writes/s" {}
  column "fsyncs/s" {}
  column "MB/s" {}
  missing = "cut off"
  label { heading = "device" }
}

dynamic "table" {
  for_each = local.size.methods
  iterator = m
  labels   = ["against ${local.size.places[0].name}, ${m.value}"]
  content {
    title    = "${m.value}, against ${local.size.places[0].name}"
    phase    = "run"
    only     = axis.method == m.value
    rows     = ["device"]
    columns  = ["writes/s"]
    interval = true
    baseline = { device = local.size.places[0].name }
    column "relative" {
      of       = "writes/s"
      relative = true
    }
    label { heading = "device" }
  }
}

chart "writes" {
  kind   = "bar"
  title  = "Durable writes a second"
  phase  = "run"
  x      = "device"
  y      = "writes/s"
  series = ["method"]
}

text "findings" {
  body = join("\n", concat(
    [
      "## What the original says, and what these numbers say", "",
      format("The original got 9229.35 durable writes a second from a flash card, \"pretty impressive\". %s gives %.0f here: %s.",
        local.size.places[0].name,
        at("device=${local.size.places[0].name},method=fsync", "writes/s", "run"),
      at("device=${local.size.places[0].name},method=fsync", "writes/s", "run") > 9229.35 ? "more than the card" : "fewer than the card"),
      "",
    ],
    fact("data.write_cache") != "write back" ? [""] : [
      "**That is no rate of durable writes.** The device says of itself that its write cache is \"write back\", and it is a virtual",
      "disk: fsync returns when the host has taken the data, and nothing shows that it would survive a power cut. The number says how",
      "fast this machine answers an fsync, not how many transactions it can promise. Whether the card of 2010 kept its promise cannot",
      "be judged here, nor can the RAID controller, whose numbers are not in what was kept of the original.", "",
      "What can be judged is what the filesystem adds to each call on the same disk, and by which call: the tables above compare them",
      "with a test over ${local.size.replicates} runs a side (`~`: no more than chance).",
    ],
  ))
}

# the one result that was kept of the original
import "published" { file = "published.csv" }
