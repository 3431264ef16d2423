defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  snapshot = true
  snapshot { share = "replicates" }
  workload "bench" { step = "query" }
}
