defaults { server = server.ino }
phase "load" {
  workload "bench" { step = "load" }
}
