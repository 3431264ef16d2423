experiment {
  title = "One"
  title = "Two"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
