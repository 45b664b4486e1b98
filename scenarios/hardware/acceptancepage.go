package hardware

import (
	"html/template"
	"os"
)

var acceptancePage = template.Must(template.New("acceptance").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Acceptance of {{.From}} and {{.To}}: {{.Verdict}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{font-size:1.4rem} table{border-collapse:collapse;width:100%} td,th{text-align:left;vertical-align:top;padding:.5rem;border-top:1px solid #ddd}
td:nth-child(2){white-space:nowrap;font-weight:600} .pass{color:#176f2c} .warning{color:#8a5a00} .FAIL{color:#b00020} .skipped{color:#666} ul{margin:0;padding-left:1.1rem}
</style></head><body>
<h1>{{.From}} and {{.To}}: <span class="{{.Verdict}}">{{.Verdict}}</span></h1>
<p>rdmasim {{.Version}}, profile {{.Profile}}, {{.Host.CPU}}</p>
<table><tr><th>step</th><th>verdict</th><th>what was found</th></tr>
{{range .Steps}}<tr><td>{{if and .Run $.Drawn}}<a href="{{.Run}}/report/index.html">{{.Name}}</a>{{else}}{{.Name}}{{end}}</td><td class="{{.Verdict}}">{{.Verdict}}</td><td><ul>{{range .Text}}<li>{{.}}</li>{{end}}</ul></td></tr>
{{end}}</table></body></html>
`))

// writePage writes the report for people.
func (a *Acceptance) writePage(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := acceptancePage.Execute(f, a); err != nil {
		return err
	}
	return f.Close()
}
