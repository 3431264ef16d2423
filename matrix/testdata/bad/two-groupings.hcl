axis "engine" {
  level "inno" { my_cnf = { innodb_adaptive_hash_index = true } }
  level "plain" { my_cnf = { innodb_adaptive_hash_index = false } }
}
table "t" {
  columns  = ["ips@load"]
  group_by = ["engine"]
  group { key = axis.engine }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
