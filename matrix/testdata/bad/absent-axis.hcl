axis "engine" {
  level "inno" {}
  level "rocks" { server = server.myrocks }
}
axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = level }
}
matrix "inno" {
  engine = ["inno"]
  size   = "*"
}
matrix "rocks" { engine = ["rocks"] }
defaults { server = server.inno }
phase "load" {
  workload "bench" {
    step = "load"
    rows = (pos.size + 1) * 1000
  }
}
