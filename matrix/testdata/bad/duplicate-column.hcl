table "t" { columns = ["ips.av@load", "size@load", "ips.av@load"] }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
