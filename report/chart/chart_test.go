package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// samples returns a chart of each kind with all that it can show.
func samples() []*Chart {
	return []*Chart{groupedBars(), facetedBars(), relativeBars(), manyBars(), iterations(), threads(), overTime(), rateBoxes()}
}

func bounded(series int, x, y, spread float64) Point {
	return Point{Series: series, X: x, Y: y, Low: y - spread, High: y + 2*spread, Bounded: true}
}

func groupedBars() *Chart {
	c := &Chart{
		Name: "grouped", Title: "Load: rows inserted per second", Kind: Bar,
		X: Axis{Title: "engine"}, Y: Axis{Title: "ips (1/s)"},
		Categories: []string{"inno", "myrocks"}, Series: []string{"none", "zstd.dio", "zstd"}, Panels: []Panel{{}},
	}
	points := []Point{bounded(0, 0, 136752, 4000), bounded(0, 1, 151230, 2000), bounded(1, 1, 148800, 900), {Series: 2, X: 1, Missing: true}}
	c.Panels[0].Points = points
	return c
}

func facetedBars() *Chart {
	c := &Chart{
		Name: "faceted", Title: "Queries per second by clients & storage <raid>", Kind: Bar,
		X: Axis{Title: "clients"}, Y: Axis{Title: "qps (1/s)"},
		Categories: []string{"1", "4", "16", "64"}, Series: []string{"InnoDB", "MyRocks"},
	}
	for k, title := range []string{"storage = nvme", "storage = raid10", "storage = ebs"} {
		panel := Panel{Title: title}
		for x := range 4 {
			for s := range 2 {
				panel.Points = append(panel.Points, bounded(s, float64(x), 800*math.Sqrt(float64(1+x))/float64(k+1)*(1+0.2*float64(s)), 30))
			}
		}
		c.Panels = append(c.Panels, panel)
	}
	c.Panels[2].Points[3] = Point{Series: 1, X: 1, Missing: true}
	return c
}

func relativeBars() *Chart {
	c := &Chart{
		Name: "relative", Kind: Bar, Reference: 1, ReferenceName: "binary = 5.0.96",
		X: Axis{Title: "binary"}, Y: Axis{Title: "ips relative to the baseline"}, Series: []string{""}, Panels: []Panel{{}},
	}
	for i, y := range []float64{1, 0.97, 1.08, 1.31, 1.29, 0.84} {
		c.Categories = append(c.Categories, fmt.Sprintf("mysql-%d.orig.5.%d.%d", i, i, 96-i))
		c.Panels[0].Points = append(c.Panels[0].Points, Point{X: float64(i), Y: y})
	}
	return c
}

func manyBars() *Chart {
	c := &Chart{Name: "many", Title: "Seventeen series", Kind: Bar, X: Axis{Title: "hour"}, Y: Axis{Title: "change (%)"}, Panels: []Panel{{}}}
	for x := range 3 {
		c.Categories = append(c.Categories, fmt.Sprint(x+1))
	}
	for s := range 17 {
		c.Series = append(c.Series, fmt.Sprintf("configuration %d", s+1))
		for x := range 3 {
			c.Panels[0].Points = append(c.Panels[0].Points, Point{Series: s, X: float64(x), Y: float64(s*(x+1)) - 10})
		}
	}
	return c
}

func iterations() *Chart {
	c := &Chart{
		Name: "iterations", Title: "Queries per second by hour", Kind: Line,
		X: Axis{Title: "iteration", Integer: true}, Y: Axis{Title: "qps (1/s)"}, Panels: []Panel{{}},
	}
	for s := range 10 {
		c.Series = append(c.Series, fmt.Sprintf("orig56%02d.p1", s))
		for x := 1; x <= 24; x++ {
			p := bounded(s, float64(x), 400+100*float64(s)+60*math.Sin(float64(x+s)), 15)
			p.Bounded = s < 2
			p.Missing = s == 3 && x > 8 && x < 12
			c.Panels[0].Points = append(c.Panels[0].Points, p)
		}
	}
	return c
}

func threads() *Chart {
	c := &Chart{
		Name: "threads", Title: "Throughput by connections", Kind: Line,
		X: Axis{Title: "connections", Log: true}, Y: Axis{Title: "tps (1/s)"}, Series: []string{"buffered", "direct"}, Panels: []Panel{{}},
	}
	for x := 1; x <= 1024; x *= 2 {
		c.X.Ticks = append(c.X.Ticks, Tick{float64(x), fmt.Sprint(x)})
		for s := range 2 {
			y := 3e6 * float64(x) / float64(x+20+30*s)
			c.Panels[0].Points = append(c.Panels[0].Points, bounded(s, float64(x), y, y/20))
		}
	}
	return c
}

func overTime() *Chart {
	c := &Chart{
		Name: "time", Title: "Rows inserted per second", Kind: Line,
		X: Axis{Title: "time (s)"}, Y: Axis{Title: "ips (1/s)", Log: true}, Series: []string{"c0", "c1"},
		Panels: []Panel{{Title: "inno"}, {Title: "rocks"}},
	}
	for s := range 2 {
		for x := 1; x <= 600; x++ {
			y := 1000 * float64(s+1) * (1.2 + math.Sin(float64(x*x%97)/20))
			for k := range c.Panels {
				c.Panels[k].Points = append(c.Panels[k].Points, Point{Series: s, X: float64(x), Y: y * float64(1+4*k), Missing: k == 1 && x > 200 && x < 300})
			}
		}
	}
	return c
}

func rateBoxes() *Chart {
	c := &Chart{
		Name: "boxes", Title: "Rates of one second", Kind: Box,
		X: Axis{Title: "engine"}, Y: Axis{Title: "ips (1/s)"},
		Categories: []string{"inno", "myrocks", "heap"}, Series: []string{"c0", "c1"}, Panels: []Panel{{}},
	}
	for x := range 2 {
		for s := range 2 {
			p := Point{Series: s, X: float64(x)}
			for i := range 200 {
				p.Sample = append(p.Sample, 4000+float64(1000*x+800*s)+30*float64(i*i%89)-float64(i/190)*2500)
			}
			c.Panels[0].Points = append(c.Panels[0].Points, p)
		}
	}
	c.Panels[0].Points = append(c.Panels[0].Points, Point{Series: 0, X: 2, Missing: true})
	return c
}

// TestGolden compares the SVG of each sample with a golden file.
func TestGolden(t *testing.T) {
	for _, c := range samples() {
		t.Run(c.Name, func(t *testing.T) {
			got := drawn(t, c.SVG)
			path := filepath.Join("testdata", c.Name+".svg")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s: -want +got\n%s", path, diff)
			}
		})
	}
}

func drawn(t *testing.T, draw func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDeterminism draws each sample twice in each format.
func TestDeterminism(t *testing.T) {
	for _, c := range samples() {
		for format, draw := range map[string]func(io.Writer) error{"SVG": c.SVG, "inline SVG": c.InlineSVG, "PNG": c.PNG} {
			if !bytes.Equal(drawn(t, draw), drawn(t, draw)) {
				t.Errorf("%s: two drawings as %s differ", c.Name, format)
			}
		}
	}
}

// TestWellFormed reads each SVG as XML, and checks that its size is the one that
// was asked for and that nothing is drawn at a place that is no number.
func TestWellFormed(t *testing.T) {
	for _, c := range samples() {
		for _, draw := range []func(io.Writer) error{c.SVG, c.InlineSVG} {
			svg := drawn(t, draw)
			for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
			}
			for _, bad := range []string{"NaN", "Inf", "e+"} {
				if bytes.Contains(svg, []byte(bad)) {
					t.Errorf("%s: the SVG holds %q", c.Name, bad)
				}
			}
			if !bytes.Contains(svg, []byte(`width="800"`)) {
				t.Errorf("%s: the SVG is not 800 pixels wide: %.200s", c.Name, svg)
			}
		}
	}
}

func TestPNGSize(t *testing.T) {
	c := groupedBars()
	c.Width = 640
	config, err := png.DecodeConfig(bytes.NewReader(drawn(t, c.PNG)))
	if err != nil {
		t.Fatal(err)
	}
	if config.Width != 640 || config.Height < 200 || config.Height > 640 {
		t.Errorf("the image has %d x %d pixels, want 640 and a readable height", config.Width, config.Height)
	}
}

// TestInlineColours checks that an inline chart has no colour of its own but those
// of series: on a dark page, dark words would not be read.
func TestInlineColours(t *testing.T) {
	svg := string(drawn(t, groupedBars().InlineSVG))
	svg = strings.ReplaceAll(svg, "var(--chart-muted,"+hex(muted())+")", "")
	svg = strings.ReplaceAll(svg, "var(--chart-rule,"+hex(rule())+")", "")
	for _, c := range []string{hex(ink()), hex(muted()), hex(rule()), "#000000", "#FFFFFF"} {
		if strings.Contains(svg, c) {
			t.Errorf("the inline SVG holds the colour %s", c)
		}
	}
	if !strings.Contains(svg, "currentColor") {
		t.Error("the inline SVG does not take the colour of the page")
	}
}

func TestCheck(t *testing.T) {
	change := func(f func(c *Chart)) *Chart {
		c := groupedBars()
		f(c)
		return c
	}
	tests := []struct {
		name  string
		chart *Chart
		want  string
	}{
		{"no points", change(func(c *Chart) { c.Panels = nil }), `chart "grouped" has nothing to draw: no row has a point in it`},
		{"no values", change(func(c *Chart) { c.Panels[0].Points = c.Panels[0].Points[3:] }), `chart "grouped" has nothing to draw: not one of its 1 points has a value`},
		{"bars on a logarithmic axis", change(func(c *Chart) { c.Y.Log = true }), `chart "grouped": bars stand on zero, which has no place on a logarithmic axis; leave out log, or use kind line or box`},
		{"zero on a logarithmic axis", change(func(c *Chart) { c.Kind, c.Y.Log, c.Panels[0].Points[0].Y = Line, true, 0 }), `chart "grouped": 0 has no place on a logarithmic axis; leave out log`},
		{"an infinite value", change(func(c *Chart) { c.Panels[0].Points[0].Y = math.Inf(1) }), `chart "grouped": +Inf cannot be drawn`},
		{"too many series", change(func(c *Chart) { c.Series = make([]string, 25) }), `chart "grouped" has 25 series, of which a reader tells 24 apart: name fewer axes in series, more in facet, or keep rows out with only`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, draw := range []func(io.Writer) error{tt.chart.SVG, tt.chart.InlineSVG, tt.chart.PNG} {
				err := draw(io.Discard)
				if err == nil {
					t.Fatal("no error")
				}
				if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
		})
	}
}

func TestScales(t *testing.T) {
	y := func(log bool, values ...float64) *Chart {
		c := &Chart{Kind: Line, Series: []string{""}, Panels: []Panel{{}}, Y: Axis{Log: log}}
		for i, v := range values {
			c.Panels[0].Points = append(c.Panels[0].Points, Point{X: float64(i), Y: v})
		}
		return c
	}
	tests := []struct {
		name  string
		chart *Chart
		want  string
	}{
		{"from zero", y(false, 980, 1010), "0 500 1000 1500"},
		{"below zero", y(false, -3, 12), "-5 0 5 10 15"},
		{"fractions", y(false, 0.31), "0 0.1 0.2 0.3 0.4"},
		{"thousands", y(false, 151230), "0 50k 100k 150k 200k"},
		{"millions", y(false, 2.4e6), "0 0.5M 1.0M 1.5M 2.0M 2.5M"},
		{"all zero", y(false, 0, 0), "0 0.2 0.4 0.6 0.8 1.0"},
		{"near decade", y(true, 130, 900), "100 200 500 1000"},
		{"decades", y(true, 0.02, 7000), "0.01 0.1 1 10 100 1000 10k"},
		{"one value", y(true, 200), "200 500"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.chart.yScale()
			var labels []string
			for _, tick := range s.ticks {
				labels = append(labels, tick.Label)
			}
			if got := strings.Join(labels, " "); got != tt.want {
				t.Errorf("ticks %q, want %q", got, tt.want)
			}
			for _, p := range tt.chart.Panels[0].Points {
				if p.Y < s.min || p.Y > s.max {
					t.Errorf("%g is outside of %g to %g", p.Y, s.min, s.max)
				}
			}
		})
	}
}

// BenchmarkSVG draws lines of 2,000 points.
func BenchmarkSVG(b *testing.B) {
	c := overTime()
	for b.Loop() {
		if err := c.SVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWritePNGs leaves the samples as images where DBMATRIX_CHARTS names a
// directory, to look at.
func TestWritePNGs(t *testing.T) {
	dir := os.Getenv("DBMATRIX_CHARTS")
	if dir == "" {
		t.Skip("DBMATRIX_CHARTS names no directory")
	}
	for _, c := range samples() {
		if err := os.WriteFile(filepath.Join(dir, c.Name+".png"), drawn(t, c.PNG), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
