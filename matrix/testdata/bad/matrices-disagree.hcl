defaults { server = server.inno }
axis "engine" {
  level "inno" { my_cnf = { innodb_adaptive_hash_index = true } }
  level "plain" { my_cnf = { innodb_adaptive_hash_index = false } }
}
matrix "one" {
  engine = "*"
  params = { rows = 1 }
}
matrix "two" {
  engine = ["inno"]
  params = { rows = 2 }
}
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  workload "bench" {
    step = "query"
    rows = param.rows
  }
}
