{{- define "crossply.selector" -}}
app.kubernetes.io/name: crossply
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "crossply.labels" -}}
{{ include "crossply.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* Connection secrets of Compositions and the certificate of the webhooks are looked for in this one. */ -}}
{{- define "crossply.namespace" -}}
{{- if ne .Release.Namespace "crossplane-system" }}
{{- fail "install it in the namespace crossplane-system: helm install -n crossplane-system --create-namespace ..." }}
{{- end }}
{{- .Release.Namespace }}
{{- end }}

{{- define "crossply.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /* Nobody can log in as this user: it exists only for the controllers to impersonate. */ -}}
{{- define "crossply.keeper" -}}
crossply:keeper
{{- end }}
