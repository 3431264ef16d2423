defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  iteratons = 3
  workload "bench" { step = "query" }
}
