package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// inputsFormat is part of every fingerprint. It is raised when the meaning of an
// input changes, so that no result of the old meaning passes for one of the new.
const inputsFormat = "1"

// Inputs returns what the phase's fingerprint is a hash of, beside the
// fingerprint and the iteration count of the phase before: sorted by name.
func (p *Phase) Inputs() []Input { return p.inputs(false) }

// inputs lists the inputs. With named it has the server's name in place of its
// content, for cells whose builds are not on this host.
func (p *Phase) inputs(named bool) []Input {
	list := []Input{
		{"cache", string(p.Cache)},
		{"workload", p.Workload.Type},
		{"workload.version", strconv.Itoa(p.Workload.Version)},
	}
	add := func(name, value string) { list = append(list, Input{name, value}) }
	p.serverInputs(add, named)
	for _, role := range keys(p.Settings.Storage) {
		add("storage."+role, p.Settings.Storage[role].Name)
	}
	for _, e := range p.Settings.Env {
		add("env."+e.Name, secret(e.Name, e.Value))
	}
	commands(add, "setup", p.Settings.Setup)
	commands(add, "teardown", p.Settings.Teardown)
	if len(p.Settings.Prefix) > 0 {
		add("prefix", strings.Join(p.Settings.Prefix, " "))
	}
	if p.Restart {
		add("restart", "true")
	}
	if p.Warmup > 0 {
		add("warmup", p.Warmup.String())
	}
	if p.ReadOnly {
		add("read_only", "true")
	}
	p.snapshotInputs(add)
	p.settleInputs(add)
	for _, c := range p.Sample.Exec {
		add("sample.exec."+c.Name, c.Every.String()+" "+strings.Join(c.Command, " "))
	}
	for _, name := range keys(p.Workload.Args) {
		if v := p.Workload.Args[name]; !v.IsNull() && !p.outside[name] && !emptyTuple(v) {
			add(p.Workload.Type+"."+name, show(v))
		}
	}
	list = append(list, p.files...)
	sort.SliceStable(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func emptyTuple(v cty.Value) bool { return v.Type().IsTupleType() && v.LengthInt() == 0 }

func (p *Phase) serverInputs(add func(name, value string), named bool) {
	s := p.Settings.Server
	if s == nil {
		return
	}
	if named {
		add("server", s.Name)
	} else {
		add("server.build", s.Build.Content)
		add("server.version", s.Build.Flavour+" "+s.Build.Version)
	}
	if len(s.InitArgs) > 0 {
		add("server.init_args", strings.Join(s.InitArgs, " "))
	}
	if len(s.Prefix) > 0 {
		add("server.prefix", strings.Join(s.Prefix, " "))
	}
	if p.dialect == nil {
		return
	}
	add("options of dbmatrix", strconv.Itoa(p.dialect.Generation))
	for _, o := range p.Settings.Options {
		add(p.dialect.Attribute+"."+o.Name, p.dialect.Canonical(o.Value))
	}
}

func (p *Phase) snapshotInputs(add func(name, value string)) {
	if p.Snapshot == nil {
		return
	}
	add("snapshot", map[bool]string{false: "copy", true: "reflink"}[p.Snapshot.Reflink])
	if p.Snapshot.ShareReplicates {
		add("snapshot.share", "replicates")
	}
}

func (p *Phase) settleInputs(add func(name, value string)) {
	s := p.Settle
	if s == nil {
		return
	}
	if s.DirtyPagesPct != nil {
		add("settle.dirty_pages_pct", strconv.FormatFloat(*s.DirtyPagesPct, 'g', -1, 64))
	}
	if s.CheckpointAge != nil {
		add("settle.checkpoint_age", strconv.FormatUint(*s.CheckpointAge, 10))
	}
	if s.PurgeHistory != nil {
		add("settle.purge_history", strconv.FormatUint(*s.PurgeHistory, 10))
	}
	if s.Compaction {
		add("settle.compaction", "true")
	}
	if s.Vacuum {
		add("settle.vacuum", "true")
	}
	if s.Pause > 0 {
		add("settle.pause", s.Pause.String())
	}
	add("settle.max_wait", s.MaxWait.String())
}

func commands(add func(name, value string), name string, list [][]string) {
	for i, args := range list {
		add(fmt.Sprintf("%s.%d", name, i+1), strings.Join(args, " "))
	}
}

// secretName matches names of variables whose values must not be stored.
var secretName = regexp.MustCompile(`(?i)passw|secret|token|credential|api_?key|private_?key`)

// secret returns a value as it may be stored: of a secret only its hash, which
// still tells that it changed.
func secret(name, value string) string {
	if !secretName.MatchString(name) {
		return value
	}
	sum := sha256.Sum256([]byte(name + "\x00" + value))
	return "sha256:" + hex.EncodeToString(sum[:8])
}

// hashes returns the hash of the inputs, and of those with the server's name.
func (p *Phase) hashes() (measured, id identity) {
	return hashInputs(p.inputs(false)), hashInputs(p.inputs(true))
}

func hashInputs(inputs []Input) identity {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", inputsFormat)
	for _, in := range inputs {
		fmt.Fprintf(h, "%d:%s=%d:%s\n", len(in.Name), in.Name, len(in.Value), in.Value)
	}
	var id identity
	h.Sum(id[:0])
	return id
}

// addFiles adds the contents of the files that a phase names: those of workload
// attributes, programs, and files that a setup command is given. A program that
// is not installed is noted as such.
func (d *decoder) addFiles(f *frame, p *Phase) {
	if s := p.Settings.Server; s != nil {
		p.dialect = d.dialect(s)
	}
	t := d.types[p.Workload.Type]
	p.outside = map[string]bool{}
	for i := range t.Attributes {
		a := &t.Attributes[i]
		p.outside[a.Name] = a.Outside
		v := p.Workload.Args[a.Name]
		if v == cty.NilVal || v.IsNull() || !a.File && !a.Program {
			continue
		}
		for _, name := range fileNames(v, a.Program) {
			d.addFile(f, p, name, a)
		}
	}
	for _, args := range append(append([][]string{}, p.Settings.Setup...), p.Settings.Teardown...) {
		for _, arg := range args {
			if path := beside(d.src.dir, arg); isFile(path) && !strings.HasPrefix(arg, "-") {
				p.files = append(p.files, Input{"file." + arg, d.contentOf(path)})
			}
		}
	}
}

// fileNames returns the names in a file or program attribute: of a program given
// as an argument list, only the first is the program.
func fileNames(v cty.Value, program bool) []string {
	if v.Type() == cty.String {
		return []string{v.AsString()}
	}
	names, wrong := textsValue(v)
	if wrong != "" || len(names) == 0 {
		return nil
	}
	if program {
		return names[:1]
	}
	return names
}

func (d *decoder) addFile(f *frame, p *Phase, name string, a *Attribute) {
	path := beside(d.src.dir, name)
	if a.Program && !strings.ContainsRune(name, '/') {
		found, err := exec.LookPath(name)
		if err != nil {
			p.files = append(p.files, Input{"program." + name, "not on this host"})
			return
		}
		path = found
	}
	if !isFile(path) {
		rng, ok := p.Workload.Ranges[a.Name]
		if !ok {
			rng = p.Workload.Range
		}
		d.faults.addIn(f.cell, fault(rng, "No such file", "%s names %s, which is not there; names are relative to the experiment's directory.", a.Name, name))
		return
	}
	kind := "file."
	if a.Program {
		kind = "program."
	}
	p.files = append(p.files, Input{kind + name, d.contentOf(path)})
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// contentOf hashes a file, once.
func (d *decoder) contentOf(path string) string {
	path = filepath.Clean(path)
	if sum, ok := d.files[path]; ok {
		return sum
	}
	content, err := os.ReadFile(path)
	sum := "unreadable"
	if err == nil {
		s := sha256.Sum256(content)
		sum = "sha256:" + hex.EncodeToString(s[:8])
	}
	d.files[path] = sum
	return sum
}
