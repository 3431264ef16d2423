server "mysql97" { flavour = "postgres" }
defaults { server = server.mysql97 }
phase "load" {
  workload "bench" { step = "load" }
}
