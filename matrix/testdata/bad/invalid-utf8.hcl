experiment {
  title = "Café"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
