axis "engine" {
  level "inno" { my_cnf = { innodb_adaptive_hash_index = true } }
  level "plain" { my_cnf = { innodb_adaptive_hash_index = false } }
}
axis "size" {
  dynamic "level" {
    for_each = [axis.engine]
    labels   = [level.value]
    content {}
  }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
