package figure

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Tone is a colour with a name. In files it is the light value; inside a page
// it becomes the CSS variable --NAME, so that a dark page can redefine it.
type Tone struct {
	Name        string
	Light, Dark string // #RRGGBB
}

// Tones of everything that is not data.
var (
	toneInk   = Tone{"ink", "#1B1F24", "#E6E9EE"}
	toneMuted = Tone{"muted", "#5B6470", "#A3ADBA"}
	toneGrid  = Tone{"grid", "#E4E7EB", "#343B45"}
	toneFaint = Tone{"faint", "#B9C0C9", "#5A6472"} // the many beside the worst
	toneBand  = Tone{"band", "#DCE6F1", "#2B3A4D"}
	tonePaper = Tone{"paper", "#FFFFFF", "#161A20"}
	toneWarn  = Tone{"warn", "#B3261E", "#FF8A80"}
	toneFault = Tone{"fault", "#FBEDEA", "#3A2523"} // the time of a fault
)

// seriesTones are the colours of Okabe and Ito, which people with any of the
// common colour deficiencies tell apart (B. Wong, Nature Methods 8:441, 2011),
// without its yellow, which is too light for a line on white.
var seriesTones = []Tone{
	{"s0", "#0072B2", "#56B4E9"},
	{"s1", "#D55E00", "#FF8F45"},
	{"s2", "#009E73", "#2FD3A5"},
	{"s3", "#9A4F7E", "#E79BC7"},
	{"s4", "#C98500", "#F0B840"},
	{"s5", "#3B3F9E", "#A9AEFF"},
	{"s6", "#6B6B6B", "#C4C4C4"},
	{"s7", "#5AA9D6", "#8AD0F7"},
}

// heatTones go from idle to full. Lightness falls evenly, so that the order
// survives print in black and white; on a dark page it rises.
var heatTones = []Tone{
	{"h0", "#F3F5F8", "#20262F"},
	{"h1", "#DDE8F3", "#1E3145"},
	{"h2", "#C2D9EC", "#1C3F5E"},
	{"h3", "#9FC6E1", "#1F5179"},
	{"h4", "#75AFD3", "#266795"},
	{"h5", "#4E95C3", "#3480B2"},
	{"h6", "#2F79AF", "#4E9BCB"},
	{"h7", "#1A5D96", "#79B6DC"},
	{"h8", "#104278", "#ABD1EA"},
	{"h9", "#082752", "#E2F1FA"},
}

// AllTones returns every colour that a figure may use.
func AllTones() []Tone {
	all := []Tone{toneInk, toneMuted, toneGrid, toneFaint, toneBand, tonePaper, toneWarn, toneFault}
	all = append(all, seriesTones...)
	return append(all, heatTones...)
}

// color returns the light value.
func (t Tone) color() color.Color {
	var r, g, b uint8
	if _, err := fmt.Sscanf(t.Light, "#%02X%02X%02X", &r, &g, &b); err != nil {
		panic("figure: tone " + t.Name + " is not a colour: " + t.Light)
	}
	return color.NRGBA{R: r, G: g, B: b, A: 255}
}

// toneVariables replaces the colours of an SVG by CSS variables. The SVG
// canvas truncates where it converts, so that the text to look for is computed
// as it computes it.
var toneVariables = func() *strings.Replacer {
	var pairs []string
	for _, t := range AllTones() {
		r, g, b, a := t.color().RGBA()
		k := 255.0 / float64(a)
		hex := fmt.Sprintf("#%02X%02X%02X", int(float64(r)*k), int(float64(g)*k), int(float64(b)*k))
		pairs = append(pairs, ":"+hex, ":var(--"+t.Name+")")
	}
	return strings.NewReplacer(pairs...)
}()

// seriesStyle returns the line of the i-th object: colour and dashes differ
// together, so that lines stay distinct without colour.
func seriesStyle(i int) draw.LineStyle {
	dashes := [][]vg.Length{nil, {6, 2.5}, {1.5, 2}, {8, 2, 1.5, 2}, {3.5, 2}, {10, 3}, {5, 1.5, 1.5, 1.5, 1.5, 1.5}, {2.5, 4}}
	return draw.LineStyle{
		Color:  seriesTones[i%len(seriesTones)].color(),
		Width:  vg.Points(1.4),
		Dashes: dashes[i%len(dashes)],
	}
}

func lineOf(t Tone, width float64, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: t.color(), Width: vg.Points(width), Dashes: dashes}
}

// heatTone returns the colour of a share in 0..1.
func heatLevel(share float64) int {
	n := int(share * float64(len(heatTones)))
	return max(0, min(n, len(heatTones)-1))
}

// Sizes of text in points.
const (
	sizeTitle = 14
	sizeLabel = 11
	sizeTick  = 10
)

func textOf(t Tone, size float64, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = 3 // bold, as golang.org/x/image/font counts
	}
	return text.Style{Color: t.color(), Font: f, XAlign: text.XLeft, YAlign: text.YCenter, Handler: handler}
}
