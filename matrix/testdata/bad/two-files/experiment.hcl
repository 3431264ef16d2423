axis "engine" { levels = ["c"] }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
