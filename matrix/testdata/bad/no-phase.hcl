defaults { server = server.inno }
axis "engine" {
  level "inno" { my_cnf = { innodb_adaptive_hash_index = true } }
  level "plain" { my_cnf = { innodb_adaptive_hash_index = false } }
}
