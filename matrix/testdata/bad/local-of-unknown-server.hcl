locals { build = server.ino }
defaults { server = local.build }
phase "load" {
  workload "bench" { step = "load" }
}
