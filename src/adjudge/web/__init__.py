"""Routes and pages of a campaign's server. Reports carry its stylesheet `static/adjudge.css`, too."""
