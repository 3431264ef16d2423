table "load" { columns = ["ips.av@laod"] }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
