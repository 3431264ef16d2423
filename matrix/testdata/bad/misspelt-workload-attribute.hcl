defaults { server = server.inno }
phase "load" {
  workload "bench" {
    step = "load"
    row  = 1000
  }
}
