axis "build" {
  level "a" {
    params = { name = "a" }
    server = param.name == "a" ? server.inno : server.mysql97
  }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
