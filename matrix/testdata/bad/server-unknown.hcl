defaults { server = server.percona84 }
phase "load" {
  workload "bench" { step = "load" }
}
