axis "engine" {
  level "inno" { my_cnf = { innodb_adaptive_hash_index = true } }
  level "plain" { my_cnf = { innodb_adaptive_hash_index = false } }
}
axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = level }
}
matrix "m" {
  engine = ["inno"]
  size   = "*"
}
exclude { when = axis.engine == "plain" && axis.size == "1" }
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
