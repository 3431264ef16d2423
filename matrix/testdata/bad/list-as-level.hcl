axis "size" {
  levels = [[1], [2]]
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
