defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  workload "bench" { step = "query" }
  settle { pause = "1s" }
  settle { pause = "2s" }
}
