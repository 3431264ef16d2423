package linkbench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
)

// degrees is a distribution of the number of links of a node: its points, by
// rising number of links.
type degrees []degreePoint

type degreePoint struct {
	links int64
	share float64 // of the nodes that have at most that many
}

// at returns the number of links that a share of all nodes does not exceed.
func (d degrees) at(share float64) int64 {
	i := sort.Search(len(d), func(i int) bool { return d[i].share >= share })
	// The last share is 1, but for rounding.
	return d[min(i, len(d)-1)].links
}

// degreesSection is the part of a distribution file that is about the number of
// links; the other parts are not used by the standard workload.
const degreesSection = "nlinks"

func readDegrees(path string) (degrees, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the distribution of links: %w", err)
	}
	defer f.Close()
	d, err := parseDegrees(f)
	if err != nil {
		return nil, fmt.Errorf("reading the distribution of links: %s: %w", path, err)
	}
	return d, nil
}

// parseDegrees reads the section nlinks of a distribution file: a line with its
// name, then lines of a number of links and the percentage of nodes that have at
// most that many, both rising, up to 100.
func parseDegrees(r io.Reader) (degrees, error) {
	var d degrees
	lines := bufio.NewScanner(r)
	inside := false
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0:
		case len(fields) == 1:
			inside = fields[0] == degreesSection
		case inside:
			point, err := parsePoint(fields)
			if err == nil {
				err = d.follows(point)
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			d = append(d, point)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(d) == 0 {
		return nil, fmt.Errorf("there is no section %s with numbers of links", degreesSection)
	}
	// The published files end at 100 % but for rounding.
	if last := d[len(d)-1].share; math.Abs(last-1) > 1e-6 {
		return nil, fmt.Errorf("the section %s ends at %g %%, not at 100 %%", degreesSection, 100*last)
	}
	return d, nil
}

func parsePoint(fields []string) (degreePoint, error) {
	if len(fields) != 2 {
		return degreePoint{}, fmt.Errorf("%d values, want a number of links and a percentage", len(fields))
	}
	links, err := strconv.ParseInt(fields[0], 10, 32)
	if err != nil || links < 0 {
		return degreePoint{}, fmt.Errorf("%q is no number of links", fields[0])
	}
	percent, err := strconv.ParseFloat(fields[1], 64)
	if err != nil || !(percent >= 0 && percent <= 100+1e-4) {
		return degreePoint{}, fmt.Errorf("%q is no percentage", fields[1])
	}
	return degreePoint{links, percent / 100}, nil
}

// follows checks that a point may stand after those that are there.
func (d degrees) follows(p degreePoint) error {
	if len(d) == 0 {
		return nil
	}
	if last := d[len(d)-1]; p.links <= last.links || p.share < last.share {
		return errors.New("the numbers of links and the percentages must rise")
	}
	return nil
}

// A mass is the share of nodes that have a number of links.
type mass struct {
	links int64
	share float64
}

// fromMasses returns the distribution of masses in rising order. The shares are
// counted down from 1, so that what rounding left over is in the first mass and
// not in the last ones, which are far smaller.
func fromMasses(masses []mass) degrees {
	d := make(degrees, len(masses))
	share := 1.0
	for i := len(masses) - 1; i >= 0; i-- {
		d[i] = degreePoint{masses[i].links, share}
		share -= masses[i].share
	}
	return d
}

// degrees2017 is the distribution of 2017, of 23,616 points, thinned to 43: 3.85
// links a node.
func degrees2017() degrees {
	return fromMasses([]mass{
		{1, 0.7975}, {2, 0.1077}, {3, 0.03922}, {4, 0.01248}, {5, 0.007208}, {6, 0.005269}, {7, 0.003392}, {8, 0.002921},
		{11, 0.009135}, {17, 0.004584}, {25, 0.003065}, {37, 0.002121}, {54, 0.001756}, {79, 0.00105}, {114, 0.000761},
		{168, 0.0005181}, {244, 0.0003751}, {355, 0.0002752}, {516, 0.0002006}, {749, 0.0001541}, {1083, 0.0001282},
		{1573, 8.622e-05}, {2277, 5.948e-05}, {3300, 4.008e-05}, {4788, 2.579e-05}, {6929, 1.651e-05}, {10068, 1.058e-05},
		{14467, 6.392e-06}, {21154, 3.478e-06}, {30608, 2.121e-06}, {44105, 1.29e-06}, {64548, 8.468e-07},
		{92733, 4.297e-07}, {134037, 2.246e-07}, {195179, 1.225e-07}, {283895, 6.222e-08}, {434730, 3.986e-08},
		{587822, 1.361e-08}, {895696, 2.333e-08}, {1342954, 2.722e-08}, {1712282, 8.75e-09}, {3029740, 6.805e-09},
		{3918659, 2.917e-09},
	})
}

// degrees2011 is the distribution of 2011, of 19,951 points, thinned to 39: 4.10
// links a node, none for nearly half of them.
func degrees2011() degrees {
	return fromMasses([]mass{
		{0, 0.4533}, {1, 0.3213}, {2, 0.09495}, {3, 0.05035}, {4, 0.02458}, {5, 0.01377}, {6, 0.008945}, {7, 0.005976},
		{8, 0.004413}, {11, 0.01064}, {16, 0.005016}, {25, 0.0023}, {37, 0.001312}, {54, 0.0008588}, {78, 0.0005151},
		{115, 0.0003489}, {168, 0.0002556}, {245, 0.0001925}, {357, 0.0001632}, {518, 0.0001374}, {752, 0.0001225},
		{1092, 0.0001089}, {1584, 9.673e-05}, {2295, 8.683e-05}, {3321, 7.114e-05}, {4807, 5.536e-05}, {6964, 4.129e-05},
		{10084, 2.825e-05}, {14545, 1.733e-05}, {21057, 9.704e-06}, {30490, 4.952e-06}, {43896, 2.167e-06},
		{63846, 9.351e-07}, {91915, 3.359e-07}, {134391, 1.448e-07}, {200713, 1.021e-07}, {288299, 2.96e-08},
		{441661, 1.32e-08}, {934410, 6.6e-09},
	})
}
