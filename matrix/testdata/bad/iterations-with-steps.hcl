defaults { server = server.inno }
phase "scan" {
  iterations = 2
  workload "bench" { step = "scan" }
}
