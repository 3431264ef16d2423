package matrix

import (
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// serversDir is the folder into which `make servers` unpacks builds; the
// machine file in it is read before the user's own.
const serversDir = ".servers"

// A machine is what the machine files say of this host.
type machine struct {
	dataDir   string
	notify    []string
	variables map[string]machineVariable
	servers   map[string]*Server
	storages  map[string]*Storage
}

type machineVariable struct {
	value cty.Value
	rng   hcl.Range
}

// decodeMachine reads the machine files: the one of the unpacked servers, then
// the user's own, which wins. ok is false where one cannot be read, so that its
// servers are not known.
func (d *decoder) decodeMachine() (ok bool) {
	d.machine = machine{
		variables: map[string]machineVariable{},
		servers:   map[string]*Server{},
		storages:  map[string]*Storage{},
	}
	for _, found := range d.opts.Found {
		s := *found
		d.machine.servers[s.Name] = &s
	}
	ok = true
	for _, name := range d.machineFiles() {
		file, good := parseFile(name, d.faults)
		if file != nil {
			d.src.files[name] = file
		}
		if good {
			d.decodeMachineFile(name, file)
		}
		ok = ok && good
	}
	return ok
}

// machineFiles names the machine files that concern the experiment.
func (d *decoder) machineFiles() []string {
	var names []string
	if made := above(d.src.dir, filepath.Join(serversDir, machineFile)); made != "" {
		names = append(names, made)
	}
	own := d.opts.Machine
	if own == "" {
		own = above(d.src.dir, machineFile)
	}
	if own != "" {
		names = append(names, own)
	}
	return names
}

// above returns the nearest file of the given name in a directory or one above
// it, or "".
func above(dir, name string) string {
	for {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func (d *decoder) decodeMachineFile(name string, file *hcl.File) {
	abs, err := filepath.Abs(name)
	if err != nil {
		abs = name
	}
	dir := filepath.Dir(abs)
	content := d.content(file.Body, machineSchema())
	if attr := content.Attributes["data_dir"]; attr != nil {
		d.machine.dataDir = beside(dir, read(d, attr, "", textValue))
	}
	if attr := content.Attributes["notify"]; attr != nil {
		d.machine.notify = read(d, attr, nil, textsValue)
		if n := d.machine.notify; len(n) > 0 {
			n[0] = programBeside(dir, n[0])
		}
	}
	d.decodeMachineVariables(content.Attributes["variables"])
	seen := map[string]hcl.Range{}
	for _, b := range content.Blocks {
		name := b.Labels[0]
		if prior, dup := seen[b.Type+" "+name]; dup {
			d.faults.add(duplicate(b.Type, name, b.DefRange, prior))
			continue
		}
		seen[b.Type+" "+name] = b.DefRange
		if b.Type == "storage" {
			d.machine.storages[name] = d.decodeStorage(b, dir)
			continue
		}
		s := &Server{Name: name}
		d.decodeServer(s, b, dir)
		d.machine.servers[name] = s
	}
}

func (d *decoder) decodeMachineVariables(attr *hcl.Attribute) {
	v, ok := d.static(attr)
	if !ok || v.IsNull() {
		return
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		d.faults.add(badValue("variables", attr.Expr.Range(), `must be an object such as { rows = 1000 }`))
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		d.machine.variables[k.AsString()] = machineVariable{e, attr.Expr.Range()}
	}
}

func (d *decoder) hostValues() map[string]cty.Value {
	return map[string]cty.Value{
		"cpus":   cty.NumberIntVal(int64(d.opts.Host.CPUs)),
		"memory": cty.NumberIntVal(int64(d.opts.Host.Memory)),
	}
}
