package page

import "strings"

// paragraph is a part of what the author of a scenario says about it.
type paragraph struct {
	Text   string
	AsItIs bool // a drawing or a command: its line breaks and spaces count
}

// paragraphs cuts the comment of a scenario where lines are empty and where an
// item of a list begins, and sets what is indented apart: that is a drawing, a
// table or a command. What goes on with an item is no such thing.
func paragraphs(text string) []paragraph {
	var out []paragraph
	open, item := false, false
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			open, item = false, false
			continue
		}
		bullet := strings.HasPrefix(trimmed, "* ")
		indented := strings.HasPrefix(line, "  ")
		asItIs := indented && !bullet && (!item || strings.HasPrefix(trimmed, "rdmasim "))
		item = bullet || item && indented && !asItIs
		if bullet {
			line = "• " + trimmed[2:]
		}
		if last := len(out) - 1; open && !bullet && out[last].AsItIs == asItIs {
			out[last].Text += "\n" + line
			continue
		}
		out, open = append(out, paragraph{line, asItIs}), true
	}
	return out
}
