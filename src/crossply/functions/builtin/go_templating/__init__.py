"""function-go-templating: render templates into composed resources.

`function` is the entry point. `template_sources` and `template_data` provide text and data, `engine`
renders it as Go's text/template does, `sprig` and `extra_functions` are the functions that templates can
call. `manifests` decodes the rendered text, `response_builder` and `meta_kinds` build the response.
"""
