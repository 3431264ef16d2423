variable "rows" { type = number }
axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = level * var.rows }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
