# How many times a second a device makes a 4 KiB write durable, which bounds the
# transactions that one thread can commit.
#
# At the published scale these are a flash card and a RAID controller with a
# battery. The small scale compares two profiles of btrfs; on a device with a
# volatile write cache, fsync looks cheaper than it is.
experiment {
  title  = "fsyncs a second of one file"
  source = "MySQL Performance Blog, 2010: fsync rate of a flash card and a RAID controller"
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
storage "btrfs_raid1" {}
storage "fusionio" {}
storage "perc6i" {}

locals {
  size = {
    small = {
      total = "1G", seconds = 10
      devices = [
        { name = "btrfs single", storage = "btrfs_single" },
        { name = "btrfs raid1", storage = "btrfs_raid1" },
      ]
    }
    published = {
      total = "50G", seconds = 100
      devices = [
        { name = "FusionIO", storage = "fusionio" },
        { name = "PERC 6i RAID10 with BBU", storage = "perc6i" },
      ]
    }
  }[var.scale]

  # prepare and run must agree on these.
  file = { file-num = 1, file-total-size = local.size.total, file-block-size = 4096 }
}

axis "device" {
  dynamic "level" {
    for_each = local.size.devices
    iterator = d
    labels   = [d.value.name]
    content {
      storage = storage[d.value.storage]
    }
  }
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
    options = merge(local.file, { file-test-mode = "seqrewr", file-fsync-all = "on" })
  }
}

table "fsync" {
  phase   = "run"
  columns = ["fsyncs/s"]
}
