package server

func mariadb() Flavour  { return nil }
func mysql() Flavour    { return nil }
func postgres() Flavour { return nil }
