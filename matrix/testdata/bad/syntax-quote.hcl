experiment {
  title = "Inserts
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
