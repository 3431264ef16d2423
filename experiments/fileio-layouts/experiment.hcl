# Random reads and writes of 16 KiB, by one thread and by sixteen, on several
# layouts of the same devices. No server: what varies is where the files lie.
#
# At the published scale these are modes of software RAID over flash cards. The
# small scale uses profiles of btrfs over one, two and four devices.
experiment {
  title  = "Random I/O on layouts of one, two and four devices"
  source = "MySQL Performance Blog, 2010: software RAID modes with sysbench fileio"
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
  size = {
    small = {
      total = "1G", seconds = 15
      layouts = [
        { name = "single", storage = "btrfs_single" },
        { name = "raid0", storage = "btrfs_raid0" },
        { name = "raid1", storage = "btrfs_raid1" },
        { name = "raid10", storage = "btrfs_raid10" },
      ]
    }
    published = {
      total = "50G", seconds = 180 # not published
      layouts = [
        { name = "single", storage = "single" },
        { name = "raid0", storage = "raid0" },
        { name = "raid1", storage = "raid1" },
        { name = "raid1 over raid0", storage = "raid1_over_0" },
        { name = "raid0 over raid1", storage = "raid0_over_1" },
      ]
    }
  }[var.scale]

  # prepare and run must agree on these.
  file = { file-total-size = local.size.total, file-block-size = 16384, file-extra-flags = "direct" }
}

axis "layout" {
  dynamic "level" {
    for_each = local.size.layouts
    iterator = l
    labels   = [l.value.name]
    content {
      storage = storage[l.value.storage]
    }
  }
}

axis "op" {
  levels = ["rndrd", "rndwr"]
  params = { op = level }
}

axis "threads" {
  levels = [1, 16]
  params = { threads = level }
}

# A snapshot lies on the storage of its run, so there is one for each layout.
phase "prepare" {
  snapshot = true
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

table "mb" {
  phase  = "run"
  rows   = ["layout"]
  across = ["op", "threads"]
  column "MB/s" { format = "%.1f" }
}
