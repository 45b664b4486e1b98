package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A drawing in the comment of a scenario stays a drawing, a command a command,
// and prose flows.
func TestParagraphsOfADescription(t *testing.T) {
	text := "What it shows.\n\nTwo lines\nof prose:\n\n     h0    h1\n       \\ /\n       sw0\n\nRun it:\n  rdmasim run x\n    --set a=b\nand look.\n* one\n  that goes on\n* two"
	require.Equal(t, []paragraph{
		{"What it shows.", false},
		{"Two lines\nof prose:", false},
		{"     h0    h1\n       \\ /\n       sw0", true},
		{"Run it:", false},
		{"  rdmasim run x\n    --set a=b", true},
		{"and look.", false},
		{"• one\n  that goes on", false},
		{"• two", false},
	}, paragraphs(text))
	require.Empty(t, paragraphs(""))
	require.Equal(t, []paragraph{{"  a", true}}, paragraphs("\n  a\n\n"))
}
