defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "more" {
  continues = "laod"
  workload "bench" { step = "query" }
}
