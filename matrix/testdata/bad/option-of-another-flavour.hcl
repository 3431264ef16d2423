axis "size" {
  levels = [1, 2]
  postgresql_conf = { shared_buffers = level }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
