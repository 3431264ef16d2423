defaults { server = server.inno }
phase "load" {
  workload "bench" {
    step = "load"
    rows = "many"
  }
}
