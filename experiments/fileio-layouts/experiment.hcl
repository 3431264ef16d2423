# Random reads and writes of 16 KiB, by one thread and by sixteen, on several
# layouts of the same devices. No server: what varies is where the files lie.
#
# At the published scale these are modes of software RAID over flash cards. The
# small scale uses profiles of btrfs over one, two and four loop images.
experiment {
  title      = "Random I/O on layouts of one, two and four devices"
  source     = "MySQL Performance Blog, 2010: software RAID modes with sysbench fileio"
  replicates = local.size.replicates
}

variable "scale" {
  description = "small: two cores and minutes; published: the layouts, sizes and durations of the original; tiny: seconds, to see that everything works here"
  type        = string
  default     = "small"
  validation {
    condition     = contains(["tiny", "small", "published"], var.scale)
    error_message = "scale is tiny, small or published."
  }
}

# btrfs over loop images: scripts/storages.sh makes them.
storage "btrfs_single" {}
storage "btrfs_raid0" {}
storage "btrfs_raid1" {}
storage "btrfs_raid10" {}
storage "single" {}
storage "raid0" {}
storage "raid1" {}
storage "raid1_over_0" {}
storage "raid0_over_1" {}

locals {
  here = [ # profile: of the data, as btrfs says it
    { name = "single", storage = "btrfs_single", profile = "single" },
    { name = "raid0", storage = "btrfs_raid0", profile = "RAID0" },
    { name = "raid1", storage = "btrfs_raid1", profile = "RAID1" },
    { name = "raid10", storage = "btrfs_raid10", profile = "RAID10" },
  ]
  size = {
    tiny  = { total = "32M", seconds = 1, replicates = 1, layouts = local.here, double = "raid10" }
    small = { total = "128M", seconds = 5, replicates = 5, layouts = local.here, double = "raid10" }
    published = {
      total = "50G", seconds = 180, replicates = 1 # not published
      layouts = [
        { name = "single", storage = "single", profile = null },
        { name = "raid0", storage = "raid0", profile = null },
        { name = "raid1", storage = "raid1", profile = null },
        { name = "raid1 over raid0", storage = "raid1_over_0", profile = null },
        { name = "raid0 over raid1", storage = "raid0_over_1", profile = null },
      ]
      double = "raid0 over raid1"
    }
  }[var.scale]

  # prepare and run must agree on these.
  file = { file-num = 16, file-total-size = local.size.total, file-block-size = 16384, file-extra-flags = "direct" }
}

axis "layout" {
  dynamic "level" {
    for_each = local.size.layouts
    iterator = l
    labels   = [l.value.name]
    content {
      storage = storage[l.value.storage]
      # Fails where the data is not laid out as the level's name says.
      setup = l.value.profile == null ? null : [["sh", "-c", "btrfs filesystem df \"$1\" | grep \"^Data, $2:\"", "sh", "{storage}", l.value.profile]]
    }
  }
}

axis "op" {
  level "rndrd" {
    label  = "random reads"
    params = { op = "rndrd" }
  }
  level "rndwr" {
    label  = "random writes"
    params = { op = "rndwr" }
  }
}

axis "threads" {
  levels = [1, 16]
  params = { threads = level }
  label  = level == 1 ? "1 thread" : "${level} threads"
}

# A snapshot lies on the storage of its run, so there is one for each layout.
phase "prepare" {
  snapshot { share = "replicates" }
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
    threads = param.threads
    seconds = local.size.seconds
    options = merge(local.file, { file-test-mode = param.op })
  }
}

text "question" {
  body = <<-MD
    How do the modes of software RAID affect throughput? sysbench reads or writes 16 KiB at random places of 16 files, ${local.size.total} in all,
    with O_DIRECT, by 1 thread and by 16, for ${local.size.seconds} s in each of ${local.size.replicates} run(s). The original laid RAID over one, two and four
    flash cards. Here the layouts are profiles of btrfs over one, two and four loop images, which all lie on one virtual disk: two
    images are no faster than one, so what this can show is the price of a layout, not its gain. btrfs also copies on write and
    keeps checksums, which the original's RAID did not.

    Measured on ${fact("host.cpus")} x ${fact("host.cpu_model")}, ${fact("host.memory_mib")} MiB, Linux ${fact("host.kernel")}.
  MD
}

table "mb" {
  title  = "MB/s"
  phase  = "run"
  rows   = ["layout"]
  across = ["op", "threads"]
  column "MB/s" { format = "%.1f" }
}

dynamic "table" {
  for_each = setproduct([{ level = "rndrd", says = "Random reads" }, { level = "rndwr", says = "Random writes" }], [1, 16])
  iterator = t
  labels   = ["${t.value[0].level} ${t.value[1]}"]
  content {
    title    = "${t.value[0].says}, ${t.value[1]} thread${t.value[1] == 1 ? "" : "s"}: against a single device"
    phase    = "run"
    only     = axis.op == t.value[0].level && axis.threads == tostring(t.value[1])
    rows     = ["layout"]
    interval = true
    baseline = { layout = "single" }
    column "MB/s" { format = "%.1f" }
    column "relative" {
      of       = "MB/s"
      relative = true
    }
    label { heading = "layout" }
  }
}

chart "mb" {
  kind   = "bar"
  title  = "MB/s by layout"
  phase  = "run"
  x      = "layout"
  y      = "MB/s"
  series = ["threads"]
  facet  = ["op"]
}

text "findings" {
  body = join("\n", concat(
    [
      "## What the original says, and what these numbers say", "",
      "Its one conclusion that was kept: the RAID10 modes disappoint. Here, MB/s of ${local.size.double} beside raid0, which writes everything once:", "",
      "| operation | raid0 | ${local.size.double} | ratio | |", "| --- | ---: | ---: | ---: | --- |",
    ],
    [for s in [
      { says = "reads, 1 thread", a = at("layout=raid0,op=rndrd,threads=1", "MB/s", "run"), b = at("layout=${local.size.double},op=rndrd,threads=1", "MB/s", "run") },
      { says = "reads, 16 threads", a = at("layout=raid0,op=rndrd,threads=16", "MB/s", "run"), b = at("layout=${local.size.double},op=rndrd,threads=16", "MB/s", "run") },
      { says = "writes, 1 thread", a = at("layout=raid0,op=rndwr,threads=1", "MB/s", "run"), b = at("layout=${local.size.double},op=rndwr,threads=1", "MB/s", "run") },
      { says = "writes, 16 threads", a = at("layout=raid0,op=rndwr,threads=16", "MB/s", "run"), b = at("layout=${local.size.double},op=rndwr,threads=16", "MB/s", "run") },
    ] : format("| %s | %.1f | %.1f | %.2f | %s |", s.says, s.a, s.b, s.b / s.a, s.b < 0.95 * s.a ? "slower, as there" : "not slower")],
    [
      "",
      "How much RAID0 gains from a second device cannot be judged where all images share one disk; nor can the special mode of the",
      "original, which was cut off. Whether a layout differs from a single device by more than chance, the tables above say (`~`: no).",
    ],
  ))
}
