package matrix

import (
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Servers and storages are values of their own kind, so that a text is never
// taken for one.
var (
	serverType  = cty.Capsule("server", reflect.TypeFor[Server]())
	storageType = cty.Capsule("storage", reflect.TypeFor[Storage]())
)

// serverValue returns a server as a value; of one that is not there it is
// unknown, since its name is at fault already.
func serverValue(s *Server) cty.Value {
	if s == nil {
		return cty.DynamicVal
	}
	return cty.CapsuleVal(serverType, s)
}

// storageValue is the same for a storage.
func storageValue(s *Storage) cty.Value {
	if s == nil {
		return cty.DynamicVal
	}
	return cty.CapsuleVal(storageType, s)
}

func capsuleName(v cty.Value) string {
	switch x := v.EncapsulatedValue().(type) {
	case *Server:
		return "server." + x.Name
	case *Storage:
		return "storage." + x.Name
	}
	return v.Type().FriendlyName()
}

// Flavours of servers.
const (
	MySQL    = "mysql"
	MariaDB  = "mariadb"
	Postgres = "postgres"
)

// optionAttributes are the attributes that hold the options of each flavour.
var optionAttributes = map[string]string{MySQL: "my_cnf", MariaDB: "my_cnf", Postgres: "postgresql_conf"}

// version returns the build's version, or where there is none the declared one.
func (s *Server) version() string {
	if s.Build.Version != "" {
		return s.Build.Version
	}
	return s.Version
}

// decodeServers joins what the experiment needs of its servers with what the
// machine has.
func (d *decoder) decodeServers(blocks hcl.Blocks) {
	for name, s := range d.machine.servers {
		d.servers[name] = s
	}
	seen := map[string]hcl.Range{}
	for _, b := range blocks {
		name := b.Labels[0]
		if prior, dup := seen[name]; dup {
			d.faults.add(duplicate("server", name, b.DefRange, prior))
			continue
		}
		seen[name] = b.DefRange
		s := d.servers[name]
		if s == nil {
			s = &Server{Name: name}
			d.servers[name] = s
		}
		d.decodeServer(s, b, d.src.dir)
	}
}

// decodeServer lays a server block over what is known of the server. dir is
// what its paths are relative to.
func (d *decoder) decodeServer(s *Server, b *hcl.Block, dir string) {
	before := d.losses
	content := d.content(b.Body, serverSchema())
	at := content.Attributes
	s.Range = b.DefRange
	s.Mysqld = beside(dir, read(d, at["mysqld"], s.Mysqld, textValue))
	s.Bindir = beside(dir, read(d, at["bindir"], s.Bindir, textValue))
	s.Basedir = beside(dir, read(d, at["basedir"], s.Basedir, textValue))
	s.InitArgs = read(d, at["init_args"], s.InitArgs, textsValue)
	s.User = read(d, at["user"], s.User, textValue)
	if s.Prefix = read(d, at["prefix"], s.Prefix, textsValue); at["prefix"] != nil && len(s.Prefix) > 0 {
		s.prefix = s.Prefix[0]
		s.Prefix[0] = programBeside(dir, s.prefix)
	}
	s.Flavour = read(d, at["flavour"], s.Flavour, oneOf(MySQL, MariaDB, Postgres))
	s.Version = read(d, at["version"], s.Version, textValue)
	s.Min = read(d, at["min_version"], s.Min, textValue)
	o := &overlay{kind: OverlayServer, name: "server " + s.Name, rng: b.DefRange, attrs: map[string]*hcl.Attribute{}}
	for _, name := range []string{"my_cnf", "postgresql_conf", "env"} {
		if at[name] != nil {
			o.attrs[name] = at[name]
		}
	}
	o.open = d.losses > before
	s.overlays = append(s.overlays, o)
}

func (d *decoder) decodeStorages(blocks hcl.Blocks) {
	for name, s := range d.machine.storages {
		d.storages[name] = s
	}
	seen := map[string]hcl.Range{}
	for _, b := range blocks {
		name := b.Labels[0]
		if prior, dup := seen[name]; dup {
			d.faults.add(duplicate("storage", name, b.DefRange, prior))
			continue
		}
		seen[name] = b.DefRange
		s := d.decodeStorage(b, d.src.dir)
		if have := d.storages[name]; have != nil && s.Dir == "" {
			s.Dir = have.Dir
		}
		d.storages[name] = s
	}
}

func (d *decoder) decodeStorage(b *hcl.Block, dir string) *Storage {
	content := d.content(b.Body, attrs("dir"))
	path := beside(dir, read(d, content.Attributes["dir"], "", textValue))
	if path != "" {
		path = filepath.Clean(path)
	}
	return &Storage{Name: b.Labels[0], Dir: path}
}

// probe asks the build behind a server what it is, once.
func (d *decoder) probe(s *Server) {
	if s.probed {
		return
	}
	s.probed = true
	switch {
	case s.Mysqld == "" && s.Bindir == "" && s.Basedir == "" || d.opts.Probe == nil:
		s.Build.Absent = "no machine file names it"
		return
	}
	declared := s.Flavour
	s.Build = d.opts.Probe(d.ctx, s)
	if s.Build.Absent != "" {
		return
	}
	s.Flavour = s.Build.Flavour
	switch {
	case declared != "" && declared != s.Build.Flavour && !mysqlFamily(declared, s.Build.Flavour):
		d.faults.add(fault(s.Range, "Another flavour", "Server %s is declared as %s, but the build says that it is %s %s.",
			s.Name, declared, s.Build.Flavour, s.Build.Version))
	case s.Min != "" && older(s.Build.Version, s.Min):
		s.Build.Absent = fmt.Sprintf("it is version %s here, and the experiment needs %s or later", s.Build.Version, s.Min)
	}
}

// older reports whether a version is before a bound.
func older(version, bound string) bool {
	a, _ := cutVersion(version)
	b, _ := cutVersion(bound)
	return compareVersions(a, b) < 0
}

// mysqlFamily reports whether both flavours read a my.cnf. An experiment that
// was written for MySQL may be tried on MariaDB.
func mysqlFamily(a, b string) bool { return a != Postgres && b != Postgres }

// dialect returns how a server's options are named, by what is known of it.
func (d *decoder) dialect(s *Server) *Dialect {
	switch {
	case s.Flavour != "":
		return d.dialects[s.Flavour]
	case s.Bindir != "" && s.Mysqld == "":
		return d.dialects[Postgres]
	}
	return d.dialects[MySQL]
}
