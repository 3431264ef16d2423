axis "a" {
  level "x" { params = [1] }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
