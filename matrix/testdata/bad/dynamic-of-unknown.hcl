axis "size" {
  dynamic "level" {
    for_each = var.sizes
    labels   = ["${level.value}"]
    content {}
  }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
