server "inno" { min_version = "10.6" }
server "inno" { min_version = "10.11" }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
