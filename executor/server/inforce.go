package server

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dbmatrix/matrix"
)

// A Verdict says what became of an option that was asked for.
type Verdict string

// Verdicts.
const (
	Verified     Verdict = "verified"     // the server has the value that was asked
	Adjusted     Verdict = "adjusted"     // it took the option and changed the value
	Contradicted Verdict = "contradicted" // it has another value, or does not heed the option
	Unverifiable Verdict = "unverifiable" // nothing tells what it has
)

// An InForce is one requested option and what the server has in force.
type InForce struct {
	Option  matrix.Option
	Asked   string // as written in the option file
	Got     string // as the server tells it; "" where it does not
	Verdict Verdict

	// Granule says of an adjusted value that it was rounded to the server's
	// own unit, such as a buffer pool chunk.
	Granule bool

	Source string // where Got comes from, such as "information_schema.system_variables"
	Detail string // the server's words or a reason, else ""
}

// settle sets the outcome.
func (v *InForce) settle(verdict Verdict, source, got, detail string) {
	v.Verdict, v.Source, v.Got, v.Detail = verdict, source, got, detail
}

// String returns such as "table_open_cache was asked 100000, is 2000 (adjusted)".
func (v InForce) String() string {
	text := fmt.Sprintf("%s was asked %s", v.Option.Name, v.Asked)
	if v.Source != "" && v.Got != "" {
		text += ", is " + v.Got
	}
	text += fmt.Sprintf(" (%s)", v.Verdict)
	if v.Detail != "" {
		text += ": " + v.Detail
	}
	return text
}

// InForce compares each requested option with what the server has in force.
func (i *Instance) InForce(ctx context.Context) ([]InForce, error) {
	all := i.verdicts()
	asked := make([]*InForce, len(all))
	for n := range all {
		asked[n] = &all[n]
	}
	if err := i.flavour.inForce(ctx, i.db, i.launch.Settings.Server.Build, asked); err != nil {
		return nil, fmt.Errorf("asking server %q which options are in force: %w", i.launch.Settings.Server.Name, err)
	}
	hearLog(asked, readLog(i.log))
	return all, nil
}

// verdicts returns the requested options, none of them judged yet.
func (i *Instance) verdicts() []InForce {
	var all []InForce
	for _, o := range i.launch.Settings.Options {
		all = append(all, InForce{Option: o, Asked: asText(o), Verdict: Unverifiable, Detail: "nothing that the server tells shows it"})
	}
	return all
}

// asText returns an option's value as one text.
func asText(o matrix.Option) string {
	switch v := o.Value; v.Kind {
	case matrix.OptionBool:
		if v.Bool {
			return "ON"
		}
		return "OFF"
	case matrix.OptionList:
		return strings.Join(v.Items, ",")
	case matrix.OptionComposite:
		var parts []string
		for _, p := range v.Parts {
			parts = append(parts, p.Key+"="+p.Value)
		}
		return strings.Join(parts, ",")
	default:
		return v.Text
	}
}

// heedless matches the words by which a server says that it does not heed an
// option, and changed those by which it says that it took another value.
var (
	heedless = regexp.MustCompile(`(?i)was removed\b|\bignor(ed|ing)\b|has no effect|is not supported|does not exist|unknown (variable|option) '`)
	changed  = regexp.MustCompile(`(?i)adjusted|changed limits|out of range|invalid|using the default|wrong value|truncated`)
)

// hearLog lets the server's own words decide over its variables: some show a
// value that the server does not use. Only warnings and errors count.
func hearLog(asked []*InForce, lines []string) {
	for _, line := range lines {
		if strings.Contains(line, "in --skip-name-resolve mode") {
			continue // it is about an account, and the option is heeded
		}
		switch classify(line) {
		case "warning", "error":
		default:
			continue
		}
		words := strings.TrimSpace(stamp.ReplaceAllString(line, ""))
		// One sentence may say that an option is ignored, and the next
		// which one is used instead.
		for sentence := range strings.SplitSeq(words, ". ") {
			for _, v := range asked {
				if names(sentence, v.Option.Name) {
					v.hear(sentence, words)
				}
			}
		}
	}
}

// hear takes into account what a server says of the option.
func (v *InForce) hear(sentence, words string) {
	switch {
	case heedless.MatchString(sentence):
		v.Verdict, v.Detail = Contradicted, words
		if v.Source == "" {
			v.Source = "error log"
		}
	case v.Verdict != Verified && changed.MatchString(sentence):
		v.Detail = words
	}
}

// names reports whether a text names an option, with dashes or underscores and
// with or without the prefix loose_, and not only a longer name that holds it.
func names(text, option string) bool {
	text = strings.ReplaceAll(strings.ToLower(text), "-", "_")
	for from := 0; ; {
		at := strings.Index(text[from:], option)
		if at < 0 {
			return false
		}
		at += from
		from = at + 1
		end := at + len(option)
		before := strings.TrimSuffix(text[:at], "loose_")
		if (before == "" || !wordByte(before[len(before)-1]) || strings.HasSuffix(before, "__")) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
	}
}

// wordByte reports whether a byte can be part of an option's name.
func wordByte(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9'
}

// Faults returns, of verdicts, those that spoil a measurement, one sentence
// each: an option that an axis, matrix or phase sets must be verified, unless
// the settings allow it to be adjusted or unverified. Rounding to a granule is
// no fault. A plugin that is not loaded is one, whoever asked for it.
func Faults(s *matrix.Settings, verdicts []InForce) []string {
	var faults []string
	for _, v := range verdicts {
		if v.Verdict == Verified || v.Verdict == Adjusted && (v.Granule || slices.Contains(s.Adjusted, v.Option.Name)) {
			continue
		}
		if v.Verdict == Unverifiable && slices.Contains(s.Unverified, v.Option.Name) {
			continue
		}
		if v.Option.Varied() || v.Verdict == Contradicted && pluginOptions[v.Option.Name] {
			faults = append(faults, fmt.Sprintf("%s: %s; %s", place(v.Option), v, wayOut(v)))
		}
	}
	return faults
}

// wayOut says what to do about a fault.
func wayOut(v InForce) string {
	switch v.Verdict {
	case Adjusted:
		return fmt.Sprintf("set a value that the server takes, or say adjusted = [%q] on the level", v.Option.Name)
	case Unverifiable:
		return fmt.Sprintf("say unverified = [%q] on the level if that is good enough", v.Option.Name)
	}
	return "set the option to null where this build does not heed it"
}
