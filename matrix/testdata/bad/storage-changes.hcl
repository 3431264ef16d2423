defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  restart = true
  storage = storage.ssd
  workload "bench" { step = "query" }
}
