axis "engine" {
  levle "inno" {}
  level "plain" {}
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
