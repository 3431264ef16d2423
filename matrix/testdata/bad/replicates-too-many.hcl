experiment {
  name       = "../results"
  replicates = 1e9
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
