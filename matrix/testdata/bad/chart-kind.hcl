axis "engine" {
  level "inno" { my_cnf = { innodb_adaptive_hash_index = true } }
  level "plain" { my_cnf = { innodb_adaptive_hash_index = false } }
}
chart "load" {
  kind  = "pie"
  phase = "load"
  x     = "engine"
  y     = "ips.av"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
