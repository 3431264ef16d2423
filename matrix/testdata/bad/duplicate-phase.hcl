defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "load" {
  workload "bench" { step = "query" }
}
