axis "engine" {
  level = "inno"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
