defaults { server = server.inno }
phase "load" {
  iterations = 0
  workload "bench" { step = "load" }
}
