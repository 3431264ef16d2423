// Package chart draws charts of experiments: bars, lines and boxes, as SVG and
// PNG, at the width of a blog.
//
//	Chart ─► sheet ─► SVG
//	(data)  (panels)  PNG
//
// A Chart is pure data: every number is in place, and package report has decided
// what a point is and what it is called. The sheet of a chart is where its title,
// its legend and its panels stand; gonum.org/v1/plot draws the axes, and the same
// sheet goes to each format.
//
// Bars, lines and boxes stand on zero unless their axis is logarithmic. A value
// that is missing is a gap with a cross on the baseline, never a zero. The legend
// stands over the panels, where it hides nothing. The colours are those of Okabe
// and Ito, which people with any common kind of colour blindness tell apart; lines
// differ in their marks too. The same chart gives the same bytes.
package chart
