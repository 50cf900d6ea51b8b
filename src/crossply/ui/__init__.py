"""The dashboard: a web server that shows a control plane with the rights of the viewer."""
