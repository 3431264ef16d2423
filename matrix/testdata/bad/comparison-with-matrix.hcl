axis "engine" {
  level "inno" { my_cnf = { innodb_adaptive_hash_index = true } }
  level "plain" { my_cnf = { innodb_adaptive_hash_index = false } }
}
matrix "one" { engine = "*" }
matrix "two" { engine = ["inno"] }
exclude {
  when   = cell.matrix == "tow"
  reason = "misspelt"
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
