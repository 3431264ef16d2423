variable "zero" { default = 0 }
defaults {
  server = server.inno
  my_cnf = { innodb_io_capacity = 1 / var.zero }
}
phase "load" {
  workload "bench" { step = "load" }
}
