axis "size" {
  levels = [1, 2
}
