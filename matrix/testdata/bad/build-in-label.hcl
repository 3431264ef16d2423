axis "build" {
  level "mariadb" {
    label  = build.version
    server = server.inno
  }
  level "mysql" { server = server.mysql97 }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
