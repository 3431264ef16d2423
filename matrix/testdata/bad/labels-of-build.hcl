axis "size" {
  dynamic "level" {
    for_each = [1, 2]
    labels   = [build.version]
    content {}
  }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
