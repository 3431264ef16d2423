defaults { server = server.inno }
phase "one" {
  continues = "two"
  workload "bench" { step = "load" }
}
phase "two" {
  workload "bench" { step = "query" }
}
