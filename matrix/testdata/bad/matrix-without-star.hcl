axis "engine" {
  level "inno" { my_cnf = { innodb_adaptive_hash_index = true } }
  level "plain" { my_cnf = { innodb_adaptive_hash_index = false } }
}
matrix "m" { engine = "all" }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
