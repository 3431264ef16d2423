defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
  workload "bench" { step = "query" }
}
