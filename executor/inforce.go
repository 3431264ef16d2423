package executor

import (
	"context"
	"fmt"
	"strings"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// An inForceKey is an option that the levels of an axis set, on one server.
type inForceKey struct{ server, axis, option string }

// An ending is what one level of an axis asked of an option, and what it got.
type ending struct {
	level, asked, got string
	exact             bool // the server has just what was asked
}

// An inForceTable remembers which values the levels of each axis ended with.
// Two levels that ask for different values and end with the same one compare
// nothing, however often they are measured.
type inForceTable struct {
	endings map[inForceKey][]ending
}

func newInForceTable() *inForceTable {
	return &inForceTable{endings: map[inForceKey][]ending{}}
}

// load adds what the plan's finished runs ended with. Records of phases that the
// plan does not have any more say nothing of its levels.
func (t *inForceTable) load(ctx context.Context, s *store.Store, plan *matrix.Plan) error {
	current := map[matrix.Fingerprint]string{} // phases that are done, and their server
	for _, run := range plan.Runs {
		for _, p := range run.Phases {
			if s := p.Phase.Settings.Server; s != nil && p.Status == matrix.Done {
				current[p.Fingerprint] = s.Name
			}
		}
	}
	if len(current) == 0 {
		return nil
	}
	attempts, err := s.Results(ctx, plan.Experiment.Name, store.Selection{Host: plan.Host.ID})
	if err != nil {
		return err
	}
	options, err := s.Options(ctx, plan.Experiment.Name, true)
	if err != nil {
		return err
	}
	for _, a := range attempts {
		for _, p := range a.Phases {
			if name, ok := current[p.Fingerprint]; ok {
				t.addRecorded(name, options[p.ID])
			}
		}
	}
	return nil
}

// addRecorded adds the recorded options of a phase.
func (t *inForceTable) addRecorded(serverName string, options []store.Option) {
	for _, o := range options {
		if axis, level, ok := levelOfOrigin(lastLine(o.Origin)); ok && o.Varied && !o.Unknown {
			t.add(inForceKey{serverName, axis, o.Name}, ending{level, o.Asked, o.InForce, o.Verdict == string(server.Verified)})
		}
	}
}

// judge adds what a server has in force and returns a sentence for each option
// with which its level ends like another level.
func (t *inForceTable) judge(serverName string, verdicts []server.InForce) []string {
	var faults []string
	for _, v := range verdicts {
		if !v.Option.Varied() || v.Verdict == server.Unverifiable || v.Got == "" {
			continue
		}
		axis, level, ok := levelOfOrigin(originText(v.Option.Origins[len(v.Option.Origins)-1]))
		if !ok {
			continue
		}
		now := ending{level, v.Asked, v.Got, v.Verdict == server.Verified}
		key := inForceKey{serverName, axis, v.Option.Name}
		if other := t.clash(key, now); other != nil {
			faults = append(faults, fmt.Sprintf("axis %q: %s=%s of level %q and =%s of level %q both end as %s; the axis changes nothing there",
				axis, v.Option.Name, other.asked, other.level, now.asked, now.level, now.got))
		}
		t.add(key, now)
	}
	return faults
}

// clash returns an ending of another level that asked for something else and got
// the same. Two levels that both got what they asked mean the same value.
func (t *inForceTable) clash(k inForceKey, now ending) *ending {
	for i, e := range t.endings[k] {
		if e.level != now.level && e.asked != now.asked && e.got == now.got && !(e.exact && now.exact) {
			return &t.endings[k][i]
		}
	}
	return nil
}

// add remembers an ending once.
func (t *inForceTable) add(k inForceKey, e ending) {
	for _, old := range t.endings[k] {
		if old == e {
			return
		}
	}
	t.endings[k] = append(t.endings[k], e)
}

// levelOfOrigin splits "level axis.name" and what follows.
func levelOfOrigin(origin string) (axis, level string, ok bool) {
	rest, ok := strings.CutPrefix(origin, "level ")
	if !ok {
		return "", "", false
	}
	name, _, _ := strings.Cut(rest, " (")
	return strings.Cut(name, ".")
}

// originText words an origin: "level compression.c1 (experiment.hcl:12)".
func originText(o matrix.Origin) string {
	if o.Range.Filename == "" {
		return o.Name
	}
	return fmt.Sprintf("%s (%s:%d)", o.Name, o.Range.Filename, o.Range.Start.Line)
}

// lastLine returns the last line of a text.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return lines[len(lines)-1]
}

// recordOptions converts verdicts for the record.
func recordOptions(verdicts []server.InForce) []store.Option {
	options := make([]store.Option, len(verdicts))
	for i, v := range verdicts {
		origins := make([]string, len(v.Option.Origins))
		for j, o := range v.Option.Origins {
			origins[j] = originText(o)
		}
		detail := v.Detail
		if v.Source != "" {
			detail = strings.TrimSpace(v.Source + ": " + detail)
		}
		options[i] = store.Option{
			Name: v.Option.Name, Asked: v.Asked, InForce: v.Got, Unknown: v.Got == "" && v.Verdict == server.Unverifiable,
			Verdict: string(v.Verdict), Granule: v.Granule,
			Varied: v.Option.Varied(),
			Origin: strings.Join(origins, "\n"), Detail: detail,
		}
	}
	return options
}
