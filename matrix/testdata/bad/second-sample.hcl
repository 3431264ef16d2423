phase "query" {
  workload "bench" { step = "query" }
  sample { extents = true }
  sample { interval = "2s" }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
