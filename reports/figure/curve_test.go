package figure

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A formula is joined from left to right however its points came; what was
// measured is points whose intervals stay with them where others are left out.
func TestCurve(t *testing.T) {
	c := Curve{Name: "peak", Title: "Peak queue", XLabel: "load", YLabel: "peak queue (bytes)", Lines: []CurveLine{
		{Name: "formula", Smooth: true, X: []float64{3, 1, 2}, Y: []float64{3e6, 1e6, 2e6}},
		{Name: "simulated", X: []float64{1, 2, 3}, Y: []float64{1e6, math.NaN(), 3e6}, Half: []float64{1e5, 2e5, 3e5}},
	}}
	f := c.Figure()
	require.Len(t, f.Panels, 1)
	p := f.Panels[0]
	require.Less(t, p.Plot.X.Min, 1.0, "no point stands on the frame")
	require.Greater(t, p.Plot.X.Max, 3.0)
	require.Equal(t, "peak queue (MB)", p.Plot.Y.Label.Text)
	require.Len(t, p.Legend, 2)
	require.Nil(t, p.Legend[0].Mark.Shape, "a formula is a line")
	require.NotNil(t, p.Legend[1].Mark.Shape, "a measurement is a mark")
	require.Equal(t, 3.0, c.Lines[0].X[0], "what is drawn is not changed")
	pts, half := c.Lines[0].points()
	require.Equal(t, []xy{{1, 1e6}, {2, 2e6}, {3, 3e6}}, pts)
	require.Empty(t, half)
	pts, half = c.Lines[1].points()
	require.Equal(t, []xy{{1, 1e6}, {3, 3e6}}, pts)
	require.Equal(t, []float64{1e5, 3e5}, half)
	require.Len(t, f.Table.Rows, 2)
	checkSVG(t, string(f.SVG()))

	// One point, nothing at all, and a range of nothing.
	one := Curve{Title: "One", Lines: []CurveLine{{Name: "a", X: []float64{1}, Y: []float64{0}}}}.Figure()
	checkSVG(t, string(one.SVG()))
	require.Equal(t, "There is nothing to draw.", Curve{Title: "None"}.Figure().Empty)
}

// Series of points differ in shape, so that they stay distinct without colour.
func TestCurveMarks(t *testing.T) {
	c := Curve{Name: "p", Title: "P", XLabel: "x", YLabel: "y", Lines: []CurveLine{{Name: "f", Smooth: true, X: []float64{0, 1}, Y: []float64{0, 1}}}}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		c.Lines = append(c.Lines, CurveLine{Name: name, X: []float64{0, 1}, Y: []float64{1, 1}})
	}
	f := c.Figure()
	seen := map[string]bool{}
	for _, k := range f.Panels[0].Legend[1:] {
		shape := fmt.Sprintf("%T%v", k.Mark.Shape, k.Mark.Shape)
		require.False(t, seen[shape], "%s looks like another", k.Label)
		seen[shape] = true
	}
	checkSVG(t, string(f.SVG()))
}
