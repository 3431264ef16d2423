defaults { server = server.inno }
phase "load" {
  restart = "yes"
  workload "bench" { step = "load" }
}
