axis "size" {
  levels = [1, 2]
  level "3" {}
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
