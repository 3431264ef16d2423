axis "size" {
  level "small" { params = { rows = 1000 } }
  level "large" { params = { rows = 9000 } }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
