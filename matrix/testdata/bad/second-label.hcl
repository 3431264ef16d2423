table "t" {
  columns = ["ips@load"]
  label { heading = "a" }
  label { heading = "b" }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
