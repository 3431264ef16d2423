defaults { server = server.inno }
phase "load" {
  workload "bensh" { step = "load" }
}
