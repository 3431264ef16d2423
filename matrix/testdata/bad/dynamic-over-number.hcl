axis "size" {
  dynamic "level" {
    for_each = 3
    labels   = ["${level.value}"]
    content {}
  }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
