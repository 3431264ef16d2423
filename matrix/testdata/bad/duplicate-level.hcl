axis "x" {
  level "a" {}
  level "b" {}
  level "a" {}
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
