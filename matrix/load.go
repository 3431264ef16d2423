package matrix

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// LoadOptions are what an experiment is decoded with beside its own files.
type LoadOptions struct {
	Path     string // the experiment's directory, or a single file
	Machine  string // the machine file; "" looks for one above the experiment
	Vars     []VarValue
	VarFiles []string // HCL files of attributes, later ones win

	Workloads []WorkloadType
	Dialects  []Dialect
	Found     []*Server // servers that are on this host without a machine file

	// Probe asks a build what it is. It is called once for each server that
	// a cell uses. Nil takes every build as absent.
	Probe func(context.Context, *Server) Build

	// Implicit returns what a server runs with beside its settings and is
	// measured all the same: the options that dbmatrix sets itself, the
	// contents of the plugins that are loaded. It is called once for
	// settings that cells share, with a build that is on this host. Nil
	// adds nothing.
	Implicit func(*Settings) []Input

	// Recorded reports whether results of the experiment in a directory are
	// on record, and all that is wanted is to show them. A server that is
	// named nowhere is then like one that only the experiment declares: its
	// build is not on this host, and a warning says so. Nil: an unknown
	// name is a fault.
	Recorded func(dir string) bool

	// Imported returns the names of imports that are on record for the
	// experiment in a directory, which tables may show as they show those of
	// import blocks. Nil: there are none.
	Imported func(dir string) []string

	Host Host
}

// A VarValue is a value given to a variable from outside, as text.
type VarValue struct{ Name, Value string }

// Load reads and decodes an experiment. It returns the diagnostics of all files
// at once. Where one of them is an error the experiment is good for one thing: to
// be expanded and checked on, so that all its faults are told in one go. It is nil
// where nothing more can be found.
func Load(ctx context.Context, o LoadOptions) (*Experiment, map[string]*hcl.File, hcl.Diagnostics) {
	f := &faults{}
	src, ok := readSource(o.Path, f)
	if src == nil {
		return nil, nil, f.diagnostics()
	}
	d := newDecoder(ctx, o, src, f)
	if !ok || !d.decode() {
		return nil, src.files, f.diagnostics()
	}
	e := d.experiment()
	d.told, d.faulty = f.found, f.errors()
	return e, src.files, f.diagnostics()
}

// Format returns the canonical layout of a file's source.
func Format(src []byte) []byte { return hclwrite.Format(src) }

// ParseFile parses one file's source, for `fmt`, and returns its faults.
func ParseFile(name string, src []byte) (*hcl.File, hcl.Diagnostics) {
	f := &faults{}
	file, _ := parse(name, src, f)
	return file, f.diagnostics()
}

// A decoder turns a source into an experiment. What it holds is needed later on
// too, when cells are evaluated.
type decoder struct {
	ctx    context.Context
	opts   LoadOptions
	src    *source
	faults *faults

	functions map[string]function.Function
	dialects  map[string]*Dialect // by flavour
	types     map[string]*WorkloadType

	variables map[string]*variable
	locals    map[string]*local
	servers   map[string]*Server
	storages  map[string]*Storage

	head       headBlock
	defaults   *overlay
	axes       []*axisBlock
	axisIndex  map[string]int
	params     map[string]int // index of each param that anything sets
	paramOrder []paramName
	openParams bool // params that are set by an expression whose names are not known before it is evaluated
	matrices   []*matrixBlock
	excludes   []*excludeBlock
	phases     []*phaseBlock
	report     []ReportBlock

	machine machine

	read      map[ref]bool // names that some expression reads
	values    map[string]int32
	bases     map[*Dialect]*layer
	layers    map[layerKey]*layer
	settings  map[settingsKey]*Settings
	paramSets map[int32]map[string]cty.Value
	workloads map[string]*resolvedWorkload
	resolved  map[phaseKey]*Phase
	files     map[string]string // content hashes by path

	contributions int32 // how many were made

	// What faults leave behind: how many arguments and blocks were lost so
	// far, the names that such may have declared, and the kinds of blocks
	// without a name.
	losses         int
	lost, nameless map[string]bool
	lossy          map[*hcl.BodyContent]bool // that something was lost from

	told   map[faultKey]*foldedFault // by Load
	faulty bool                      // Load told of errors
	doubts map[string]*doubt
	open   bool // there may be cells that are not known

	idle       bool // there are params that nothing reads
	lostBlocks bool // one that has a part in what cells there are and what they run

	rows sync.Mutex // held while the values of a report's row are looked up, which remembers some
}

func newDecoder(ctx context.Context, o LoadOptions, src *source, f *faults) *decoder {
	d := &decoder{
		ctx: ctx, opts: o, src: src, faults: f,
		functions: Functions(src.dir),
		dialects:  map[string]*Dialect{},
		types:     map[string]*WorkloadType{},
		variables: map[string]*variable{},
		locals:    map[string]*local{},
		servers:   map[string]*Server{},
		storages:  map[string]*Storage{},
		axisIndex: map[string]int{},
		params:    map[string]int{},
		read:      map[ref]bool{},
		values:    map[string]int32{},
		bases:     map[*Dialect]*layer{},
		layers:    map[layerKey]*layer{},
		settings:  map[settingsKey]*Settings{},
		paramSets: map[int32]map[string]cty.Value{},
		workloads: map[string]*resolvedWorkload{},
		resolved:  map[phaseKey]*Phase{},
		files:     map[string]string{},
		lost:      map[string]bool{},
		nameless:  map[string]bool{},
		lossy:     map[*hcl.BodyContent]bool{},
	}
	for flavour, attribute := range optionAttributes {
		d.dialects[flavour] = &Dialect{Flavour: flavour, Attribute: attribute}
	}
	for i := range o.Dialects {
		d.dialects[o.Dialects[i].Flavour] = &o.Dialects[i]
	}
	for i := range o.Workloads {
		d.types[o.Workloads[i].Name] = &o.Workloads[i]
	}
	return d
}

// decode goes through the blocks in the order in which their names must be
// known: a later stage may use what an earlier one declared. ok is false where it
// cannot be told what there is.
func (d *decoder) decode() (ok bool) {
	if !d.decodeMachine() {
		return false
	}
	d.correctBlocks()
	raw, _, diags := d.src.raw().PartialContent(declarationSchema())
	d.faults.add(diags...)
	d.decodeVariables(raw.Blocks.OfType("variable"))
	d.decodeLocals(raw.Blocks.OfType("locals"))
	if !d.checkDynamic() {
		return false
	}
	places, _, diags := d.src.body(d.staticContext()).PartialContent(placeSchema())
	d.faults.add(diags...)
	d.decodeServers(places.Blocks.OfType("server"))
	d.decodeStorages(places.Blocks.OfType("storage"))
	content := d.content(d.src.body(d.staticContext()), experimentFileSchema())
	d.open = d.open || d.lostBlocks
	d.decodeBlocks(content)
	return true
}

// decodeBlocks decodes what a matrix is made of. First the names of axes and
// params are gathered, then expressions can be checked.
func (d *decoder) decodeBlocks(content *hcl.BodyContent) {
	blocks := content.Blocks
	d.decodeHead(blocks.OfType("experiment"))
	d.declareAxes(blocks.OfType("axis"))
	d.declareDefaults(blocks.OfType("defaults"))
	d.declareMatrices(blocks.OfType("matrix"))
	d.declarePhases(blocks.OfType("phase"))
	d.compileOverlays()
	d.compileAxes()
	d.compileMatrices()
	d.compilePhases()
	d.decodeExcludes(blocks.OfType("exclude"), "")
	d.decodeReport(blocks)
	d.checkReads()
}

// staticContext is what dynamic blocks are expanded in.
func (d *decoder) staticContext() *hcl.EvalContext {
	f := &frame{d: d}
	vars := map[string]cty.Value{
		string(rootVar):     cty.ObjectVal(f.all(rootVar)),
		string(rootHost):    cty.ObjectVal(f.all(rootHost)),
		string(rootServer):  cty.ObjectVal(f.all(rootServer)),
		string(rootStorage): cty.ObjectVal(f.all(rootStorage)),
	}
	locals := map[string]cty.Value{}
	for name, l := range d.locals {
		if l.step == stepStatic {
			locals[name] = f.localValue(name)
		}
	}
	vars[string(rootLocal)] = cty.ObjectVal(locals)
	return &hcl.EvalContext{Variables: vars, Functions: d.functions}
}

// experiment makes the public form of what was decoded.
func (d *decoder) experiment() *Experiment {
	e := &Experiment{
		Name: d.head.name, Dir: d.src.dir, Title: d.head.title, Description: d.head.description, Source: d.head.source,
		Replicates: d.head.replicates, Order: d.head.order, Seed: d.head.seed, Cooldown: d.head.cooldown,
		MaxConsecutiveFailures: d.head.maxFailures,
		Report:                 d.report,
		DataDir:                d.machine.dataDir,
		Notify:                 d.machine.notify,
		Host:                   d.opts.Host,
		Files:                  d.src.files,
		decoder:                d,
	}
	if e.DataDir == "" {
		e.DataDir = filepath.Join(d.src.dir, ".dbmatrix")
	}
	for _, a := range d.axes {
		e.Axes = append(e.Axes, d.publicAxis(a))
	}
	for _, m := range d.matrices {
		e.Matrices = append(e.Matrices, m.name)
	}
	for _, p := range d.phases {
		e.Phases = append(e.Phases, &PhaseBlock{Name: p.name, WorkloadType: p.workloadType(), Continues: p.continues, Range: p.rng})
	}
	for _, name := range keys(d.servers) {
		e.Servers = append(e.Servers, d.servers[name])
	}
	for _, name := range keys(d.storages) {
		e.Storages = append(e.Storages, *d.storages[name])
	}
	return e
}
