package figure

import (
	"fmt"
)

var _ = register("pause_timeline", "who paused whom, when and how long", Pauses, 2, pauseTimeline)

// pauseTimeline draws a row per port and priority that was paused.
func pauseTimeline(r *Run) Figure {
	const title = "Pause timeline"
	if len(r.Pauses) == 0 {
		switch n := r.Metrics.PFC.Episodes; {
		case n == nil:
			return empty(title, "Not measured.")
		case *n > 0:
			return empty(title, "Ports were paused, but the run recorded no events of it.")
		}
		return empty(title, "No port was paused.")
	}
	shown := r.Pauses[:min(len(r.Pauses), maxLines)]
	g := timelines{x: r.Clock.Borders(), tone: func(i int) Tone { return seriesTones[int(uint8(shown[i].Prio))%len(seriesTones)] }}
	f := Figure{Title: title, Table: Table{Head: []string{"paused", "by", "priority", "episodes", "paused for", "share of the run", "longest"}}}
	var names []string
	end := r.Clock.length().Seconds()
	for _, p := range shown {
		names = append(names, fmt.Sprintf("%s p%d by %s", p.Port, p.Prio, orUnknown(NodeOf(p.Peer))))
		g.rows = append(g.rows, p.Share)
		f.Table.Rows = append(f.Table.Rows, []string{p.Port, orUnknown(p.Peer), fmt.Sprint(p.Prio), Whole(p.Episodes),
			Seconds(p.Total.Seconds()), Share(p.Total.Seconds() / end), Seconds(p.Longest.Seconds())})
	}
	if len(shown) < len(r.Pauses) {
		f.Table.Note = fmt.Sprintf("The %s paused longest of %s.", Whole(len(shown)), Whole(len(r.Pauses)))
	}
	panel := r.strip(names, 20)
	panel.Plot.Add(grid{x: true}, g)
	r.addMoments(panel.Plot)
	f.Panels = []Panel{panel}
	top := shown[0]
	f.Caption = fmt.Sprintf("%s was paused longest on priority %d by %s: %s in %s, %s of the run; a bar is as high as the share of %s that was paused.",
		top.Port, top.Prio, orUnknown(top.Peer), Seconds(top.Total.Seconds()), Count(top.Episodes, "episode"),
		Share(top.Total.Seconds()/end), Seconds(r.Clock.Width.Seconds()))
	return f
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown peer"
	}
	return s
}
