server "mariadb12" { flavour = "maria" }
defaults { server = server.mariadb12 }
phase "load" {
  workload "bench" { step = "load" }
}
