table "t" { columns = ["ips.av@load"] }
table "t" { columns = ["size@load"] }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
