package report

import "strings"

// nameFacts names the facts of an appendix for those who have not read the workload:
// it records some under the name of the phase, in a word that says little by itself.
func (a *Appendix) nameFacts() {
	for i := range a.Facts {
		a.Facts[i].Name = factTitle(a.Facts[i].Name)
	}
	for i := range a.Differing {
		a.Differing[i].Name = factTitle(a.Differing[i].Name)
	}
}

func factTitle(name string) string {
	for word, title := range map[string]string{"scan": "the index of its last scan", "rows_inserted": "what rows_inserted counts", "program": "the program"} {
		if phase, ok := strings.CutSuffix(name, "."+word); ok {
			return phase + ": " + title
		}
	}
	return name
}
