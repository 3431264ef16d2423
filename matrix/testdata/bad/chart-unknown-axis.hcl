axis "engine" {
  level "inno" { my_cnf = { innodb_adaptive_hash_index = true } }
  level "plain" { my_cnf = { innodb_adaptive_hash_index = false } }
}
chart "load" {
  kind  = "bar"
  phase = "load"
  x     = "engines"
  y     = "ips.av"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
