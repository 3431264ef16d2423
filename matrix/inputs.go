package matrix

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// inputsFormat is part of every fingerprint. It is raised when the meaning of an
// input changes, so that no result of the old meaning passes for one of the new.
const inputsFormat = "1"

// Inputs returns what the phase's fingerprint is a hash of, beside the
// fingerprint and the iteration count of the phase before: sorted by name.
func (p *Phase) Inputs() []Input {
	list := slices.Concat(p.ownInputs(false), p.resolved.inputs(), inputsOf(p.sources))
	if p.dialect != nil {
		for _, o := range p.Settings.Options {
			if p.dialect.Places[o.Name] {
				continue
			}
			list = append(list, Input{p.dialect.Attribute + "." + o.Name, p.dialect.Canonical(o.Value)})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// hash sums the inputs up. Options and workloads are hashed once, however many
// phases have them. With named the server's name stands for its build, for cells
// whose builds are not on this host.
func (p *Phase) hash(named bool) identity {
	own := hashInputs(append(p.ownInputs(named), inputsOf(p.sources)...))
	buf := slices.Concat(own[:], p.Settings.options[:], p.resolved.hash[:])
	return sha256.Sum256(buf)
}

// ownInputs lists the inputs beside the server's options and the workload.
func (p *Phase) ownInputs(named bool) []Input {
	list := make([]Input, 0, 12)
	add := func(name, value string) { list = append(list, Input{name, value}) }
	add("cache", string(p.Cache))
	p.serverInputs(add, named)
	for _, role := range storageRoles {
		if s, ok := p.Settings.Storage[role]; ok {
			add("storage."+role, s.Name)
		}
	}
	for _, e := range p.Settings.Env {
		add("env."+e.Name, Masked(e.Name, e.Value))
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
	return list
}

// inputs lists what a workload contributes.
func (r *resolvedWorkload) inputs() []Input {
	list := []Input{{"workload", r.Type}, {"workload.version", strconv.Itoa(r.Version)}}
	for _, name := range keys(r.Args) {
		a := r.typ.Attribute(name)
		if v := r.Args[name]; !v.IsNull() && !emptyTuple(v) && (a == nil || !a.Outside) {
			list = append(list, Input{r.Type + "." + name, showMasked(v)})
		}
	}
	return append(list, inputsOf(r.sources)...)
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
		add("server.prefix", strings.Join(append([]string{s.prefix}, s.Prefix[1:]...), " "))
	}
	if !named {
		for _, in := range p.Settings.implicit {
			add(in.Name, in.Value)
		}
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
	if n := p.Recorded(); n > 1 {
		add("snapshot.iterations", strconv.Itoa(n)) // the state that is kept is that after all of them
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

// showMasked is show for what is stored: the environment that an attribute gives
// a program may hold secrets.
func showMasked(v cty.Value) string {
	if t := v.Type(); v.IsNull() || !v.IsWhollyKnown() || !t.IsObjectType() && !t.IsMapType() {
		return show(v)
	}
	elements := v.AsValueMap()
	for name, e := range elements {
		if e.Type() == cty.String && !e.IsNull() {
			elements[name] = cty.StringVal(Masked(name, e.AsString()))
		}
	}
	if len(elements) == 0 {
		return show(v)
	}
	return show(cty.ObjectVal(elements))
}

// secretName matches names of variables whose values must not be stored.
var secretName = regexp.MustCompile(`(?i)passw|secret|token|credential|api_?key|private_?key`)

// Masked returns the value of a variable as it may be stored: of a secret, which
// its name gives away, only a hash, which still tells that it changed.
func Masked(name, value string) string {
	if !secretName.MatchString(name) {
		return value
	}
	sum := sha256.Sum256([]byte(name + "\x00" + value))
	return "sha256:" + hex.EncodeToString(sum[:8])
}

func hashInputs(inputs []Input) identity {
	buf := make([]byte, 0, 512)
	buf = append(buf, inputsFormat...)
	for _, in := range inputs {
		for _, text := range []string{in.Name, in.Value} {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(len(text)))
			buf = append(buf, text...)
		}
	}
	return sha256.Sum256(buf)
}

// addFiles adds the contents of the files and programs that a workload names, or
// runs without being told. A program that is not installed is noted as such.
func (d *decoder) addFiles(f *frame, w *workloadBlock, server *Server, r *resolvedWorkload) bool {
	good := true
	for i := range r.typ.Attributes {
		a := &r.typ.Attributes[i]
		v := r.Args[a.Name]
		switch {
		case !a.File && !a.Program:
		case v == cty.NilVal || v.IsNull():
			if a.Beside != "" && server != nil && server.Build.Absent == "" {
				r.sources = append(r.sources, d.ofBuild(server, a.Beside))
			}
		default:
			for _, name := range fileNames(v, a.Program) {
				good = d.addFile(f, w, r, name, a) && good
			}
		}
	}
	return good
}

// ofBuild returns the program of a name that belongs to a server's build: it lies
// beside the server's own, or else on PATH.
func (d *decoder) ofBuild(server *Server, name string) Source {
	s := Source{Input: Input{Name: "program." + name}, program: name}
	if server.Build.Dir != "" {
		s.path = filepath.Join(server.Build.Dir, name)
	}
	s.Value = d.contentOf(s.Path())
	return s
}

// program returns the program that a command begins with: one with a slash in its
// name is relative to the experiment, any other lies on PATH.
func (d *decoder) program(name string) Source {
	s := Source{Input: Input{Name: "program." + name}}
	if strings.ContainsRune(name, '/') {
		s.path = beside(d.src.dir, name)
	} else {
		s.program = name
	}
	s.Value = d.contentOf(s.Path())
	return s
}

// commandSources returns the files and programs of the commands that a phase runs
// beside its workload: the files that setup and teardown are given, the programs
// that are put before the server and the workload, and those of samplers with the
// files of the experiment that they are given.
func (d *decoder) commandSources(f *frame, p *phaseBlock, s *Settings) ([]Source, bool) {
	var list []Source
	for _, args := range slices.Concat(s.Setup, s.Teardown) {
		list = append(list, d.filesAmong(args)...)
	}
	good := true
	add := func(what, program, written string) {
		if strings.HasPrefix(program, "{") {
			return // below a place that each run has for itself
		}
		source := d.program(program)
		source.Name = "program." + written
		if path := source.Path(); path != "" && !isFile(path) {
			d.faults.addIn(f.cell, noSuchFile(p.rng, what, written))
			good = false
		}
		list = append(list, source)
	}
	if server := s.Server; server != nil && len(server.Prefix) > 0 {
		add("the prefix of server "+server.Name, server.Prefix[0], server.prefix)
	}
	if len(s.Prefix) > 0 {
		add("prefix", s.Prefix[0], s.Prefix[0])
	}
	for _, c := range p.sample.Exec {
		add("the sampler "+c.Name, c.Command[0], c.Command[0])
		for _, arg := range c.Command[1:] {
			if filepath.IsLocal(arg) { // what lies elsewhere is what it looks at
				list = append(list, d.filesAmong([]string{arg})...)
			}
		}
	}
	return list, good
}

// filesAmong returns the files among the arguments of a command.
func (d *decoder) filesAmong(args []string) []Source {
	var files []Source
	for _, arg := range args {
		if path := beside(d.src.dir, arg); !strings.HasPrefix(arg, "-") && isFile(path) {
			files = append(files, Source{Input: Input{"file." + arg, d.contentOf(path)}, path: path})
		}
	}
	return files
}

// noSuchFile reports a file or program that is not there.
func noSuchFile(rng hcl.Range, what, name string) *hcl.Diagnostic {
	return fault(rng, "No such file", "%s names %s, which is not there; names are relative to the experiment's directory.", what, name)
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

func (d *decoder) addFile(f *frame, w *workloadBlock, r *resolvedWorkload, name string, a *Attribute) bool {
	s := Source{Input: Input{Name: "file." + name}, path: beside(d.src.dir, name)}
	if a.Program {
		s = d.program(name)
	}
	path := s.Path()
	if path != "" && !isFile(path) {
		rng, ok := w.ranges[a.Name]
		if !ok {
			rng = w.rng
		}
		d.faults.addIn(f.cell, noSuchFile(rng, a.Name, name))
		return false
	}
	s.Value = d.contentOf(path)
	r.sources = append(r.sources, s)
	return true
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// contentOf hashes a file, once.
func (d *decoder) contentOf(path string) string {
	sum, ok := d.files[path]
	if !ok {
		sum = ContentOf(path)
		d.files[path] = sum
	}
	return sum
}
