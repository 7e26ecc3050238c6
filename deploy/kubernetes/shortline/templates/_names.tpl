{{- define "shortline.name" -}}
{{- if contains .Chart.Name .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{/* The labels of selectors: (dict "root" $ "component" "edge") */}}
{{- define "shortline.selector" -}}
app.kubernetes.io/name: shortline
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "shortline.labels" -}}
{{ include "shortline.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* (dict "root" $ "name" "edge") */}}
{{- define "shortline.image" -}}
{{- with .root.Values.image.registry }}{{ trimSuffix "/" . }}/{{ end }}shortline/{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end -}}

{{- define "shortline.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "shortline.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "shortline.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Probes use the operator's port, which visitors cannot reach. */}}
{{- define "shortline.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: ops}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: ops}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: ops}
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- end -}}

{{/* Spreads pods over nodes and zones: (dict "root" $ "component" "edge") */}}
{{- define "shortline.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: {{ .root.Values.spread.zones }}
    labelSelector:
      matchLabels: {{- include "shortline.selector" . | nindent 8 }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: {{ .root.Values.spread.nodes }}
    labelSelector:
      matchLabels: {{- include "shortline.selector" . | nindent 8 }}
{{- end -}}

{{- define "shortline.host" -}}
{{- .Values.ingress.host | default (get (urlParse .Values.baseUrl) "host") -}}
{{- end -}}

{{/* The files of a secret: (dict "root" $ "keys" (list …)) */}}
{{- define "shortline.secretItems" -}}
{{- range .keys }}
- {key: {{ . }}, path: {{ . }}}
{{- end }}
{{- end -}}

{{/* Parts of network policies */}}
{{- define "shortline.ports" -}}
{{- range . }}
- {protocol: TCP, port: {{ . | int }}}
{{- end }}
{{- end -}}

{{- define "shortline.backend" }}
- ports: {{- include "shortline.ports" .ports | nindent 4 }}
  {{- with .to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "shortline.dns" }}
- ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- end -}}

{{- define "shortline.monitoring" }}
- ports: [{protocol: TCP, port: 9090}]
  from:
    - namespaceSelector:
        matchLabels: {kubernetes.io/metadata.name: {{ .Values.networkPolicy.monitoringNamespace }}}
{{- end -}}

{{/* Kafka settings of edges and control planes. */}}
{{- define "shortline.kafkaEnv" -}}
{{- $k := .Values.kafka -}}
- {name: KAFKA_BROKERS, value: {{ join "," $k.brokers | quote }}}
- {name: KAFKA_TOPIC, value: {{ $k.topic | quote }}}
- {name: KAFKA_CONVERSIONS_TOPIC, value: {{ $k.conversionsTopic | quote }}}
- {name: KAFKA_PREFIX, value: {{ $k.prefix | quote }}}
- {name: KAFKA_CREATE_TOPIC, value: {{ $k.createTopic | quote }}}
- {name: KAFKA_PARTITIONS, value: {{ $k.partitions | quote }}}
{{- if $k.tls.enabled }}
- {name: KAFKA_TLS, value: "true"}
{{- if $k.tls.ca }}
- {name: KAFKA_CA_FILE, value: /run/secrets/shortline/kafka-ca}
{{- end }}
{{- if $k.tls.client }}
- {name: KAFKA_CERT_FILE, value: /run/secrets/shortline/kafka-cert}
- {name: KAFKA_KEY_FILE, value: /run/secrets/shortline/kafka-key}
{{- end }}
{{- end }}
{{- if $k.sasl.mechanism }}
- {name: KAFKA_SASL_MECHANISM, value: {{ $k.sasl.mechanism | quote }}}
- {name: KAFKA_USERNAME, value: {{ $k.sasl.username | quote }}}
- {name: KAFKA_PASSWORD_FILE, value: /run/secrets/shortline/kafka-password}
{{- end }}
{{- end -}}

{{/* The value of KAFKA_REGIONS: (a dictionary of lists of brokers) */}}
{{- define "shortline.kafkaRegions" -}}
{{- $list := list -}}
{{- range $name, $brokers := . }}{{ $list = append $list (printf "%s=%s" $name (join "," $brokers)) }}{{ end -}}
{{- join ";" $list -}}
{{- end -}}

{{/* The key of the secret with the click store or the click stores; its setting is the same in capitals. */}}
{{- define "shortline.clicksKey" -}}
{{- ternary "clickhouse-urls" "clickhouse-url" .Values.secrets.clickhouseUrls -}}
{{- end -}}

{{/* Settings that must be equal for all processes that open the click store: each one applies its retention. */}}
{{- define "shortline.clicksEnv" -}}
- {name: CLICKHOUSE_REPLICATED, value: {{ .Values.clickhouse.replicated | quote }}}
- {name: CLICK_RETENTION_DAYS, value: {{ .Values.clickhouse.retentionDays | int64 | quote }}}
{{- end -}}

{{/* The port of an address: (dict "url" …) */}}
{{- define "shortline.portOf" -}}
{{- $u := urlParse .url -}}
{{- regexFind "[0-9]+$" (regexFind ":[0-9]+$" $u.host) | default (ternary "443" "80" (eq $u.scheme "https")) | int -}}
{{- end -}}

{{/* The secret settings of Kafka. */}}
{{- define "shortline.kafkaItems" -}}
{{- $k := .Values.kafka }}
{{- $keys := list }}
{{- if and $k.tls.enabled $k.tls.ca }}{{ $keys = append $keys "kafka-ca" }}{{ end }}
{{- if and $k.tls.enabled $k.tls.client }}{{ $keys = concat $keys (list "kafka-cert" "kafka-key") }}{{ end }}
{{- if $k.sasl.mechanism }}{{ $keys = append $keys "kafka-password" }}{{ end }}
{{- include "shortline.secretItems" (dict "keys" $keys) }}
{{- end -}}

{{/* The Secret with the certificate and the signing key of control planes; "" for none. */}}
{{- define "shortline.controlTrust" -}}
{{- if .Values.trust.create -}}{{ include "shortline.name" . }}-trust-control{{- else -}}{{ .Values.trust.controlSecret }}{{- end -}}
{{- end -}}

{{/* The Secret of edges. Edges with control planes outside the release use trust.edgeSecret. */}}
{{- define "shortline.edgeTrust" -}}
{{- if .Values.trust.edgeSecret -}}{{ .Values.trust.edgeSecret }}
{{- else if and .Values.control.enabled .Values.trust.create (not .Values.edge.controlUrl) -}}{{ include "shortline.name" . }}-trust-edge{{- end -}}
{{- end -}}

{{/* The URL of this release's control planes for edges. */}}
{{- define "shortline.controlUrl" -}}
{{- $service := .Values.control.service -}}
{{- if .Values.edge.controlUrl -}}{{ .Values.edge.controlUrl }}
{{- else if include "shortline.controlTrust" . -}}{{ printf "https://%s-control:%d" (include "shortline.name" .) (int $service.edgePort) }}
{{- else -}}{{ printf "http://%s-control:%d" (include "shortline.name" .) (int $service.port) }}{{- end -}}
{{- end -}}

{{/* The service account of pods: (dict "root" $ "name" "edge" "of" .Values.edge). Pods get no token of it. */}}
{{- define "shortline.account" -}}
{{- if .of.serviceAccount.name -}}{{ .of.serviceAccount.name }}
{{- else -}}{{ include "shortline.name" .root }}-{{ .name }}{{- end -}}
{{- end -}}

{{/* What edges and control planes have in common in the specification of their pods: (dict "root" $ "name" "edge" "of" .Values.edge) */}}
{{- define "shortline.podCommon" -}}
serviceAccountName: {{ include "shortline.account" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .of.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* (dict "name" … "labels" … "kind" "Deployment" "of" {minReplicas, maxReplicas, cpuPercent}) */}}
{{- define "shortline.autoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .name }}
  labels: {{- .labels | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: {{ .kind }}, name: {{ .name }}}
  minReplicas: {{ .of.minReplicas }}
  maxReplicas: {{ .of.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ .of.cpuPercent }}}
  behavior:
    # Slowly: a removed edge may leave clicks on its volume until a pod with its number returns, and each ingester that goes makes
    # the others share its partitions anew.
    scaleDown:
      stabilizationWindowSeconds: 600
      policies:
        - {type: Pods, value: 1, periodSeconds: 300}
{{- end -}}
