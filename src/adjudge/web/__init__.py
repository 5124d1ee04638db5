"""Routes and pages. Today only the stylesheet that reports carry with them: `static/adjudge.css`."""
