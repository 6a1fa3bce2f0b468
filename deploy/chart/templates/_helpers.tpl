{{/* What the components look for is in volcano-system, as Volcano's is: configuration, and the leases that keep the two from working at once. */}}
{{- define "strata.namespace" -}}
{{- if ne .Release.Namespace "volcano-system" }}{{ fail "strata works in the namespace volcano-system: --namespace volcano-system" }}{{ end -}}
volcano-system
{{- end -}}

{{/* Names of schedulers, as a JSON list; a list is kept as it is. */}}
{{- define "strata.schedulerNames" -}}
{{- $given := .Values.custom.scheduler_name -}}
{{- kindIs "slice" $given | ternary $given (list (default "volcano" $given)) | toJson -}}
{{- end -}}

{{/* The scheduler's lease is named as the scheduler where that has one name, as Volcano's is. */}}
{{- define "strata.lease" -}}
{{- $names := include "strata.schedulerNames" . | fromJsonArray -}}
{{- eq (len $names) 1 | ternary (first $names) "volcano" -}}
{{- end -}}

{{/* Nothing where another release has the ConfigMap: beside Volcano its configuration is read, and stays its own. Call with (list root name override). */}}
{{- define "strata.hasConfigMap" -}}
{{- $root := index . 0 -}}
{{- $found := lookup "v1" "ConfigMap" (include "strata.namespace" $root) (index . 1) -}}
{{- $owner := dig "metadata" "annotations" "meta.helm.sh/release-name" "" $found -}}
{{- if or (not $found) (eq $owner $root.Release.Name) (index . 2) }}true{{ end -}}
{{- end -}}

{{/* Webhooks that are enabled and here, each as the name of its file in webhooks/ without the ending, sorted; as a JSON list. */}}
{{- define "strata.webhooks" -}}
{{- $usual := "/hypernodes/validate,/jobs/mutate,/jobs/validate,/podgroups/validate,/queues/mutate,/queues/validate" -}}
{{- $found := list -}}
{{- range splitList "," (default $usual .Values.custom.enabled_admissions) | uniq | sortAlpha -}}
{{- $name := trimPrefix "/" . | replace "/" "-" -}}
{{- if $.Files.Get (printf "webhooks/%s.yaml" $name) }}{{ $found = append $found $name }}{{ end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* The rights that these webhooks need, and no others. */}}
{{- define "strata.webhooksRules" -}}
{{- $names := include "strata.webhooks" . | fromJsonArray -}}
{{- $all := join " " $names -}}
{{- $watched := list -}}
{{- if has "queues-validate" $names }}{{ $watched = append $watched "podgroups" }}{{ end -}}
{{- if regexMatch "jobs-|podgroups-validate|queues-" $all }}{{ $watched = append $watched "queues" }}{{ end -}}
{{- with $watched }}
- apiGroups: [scheduling.volcano.sh]
  resources: {{ toJson . }}
  verbs: [list, watch]
{{- end }}
{{- if has "queues" $watched }}
- apiGroups: [scheduling.volcano.sh]
  resources: [queues]
  verbs: [get]
{{- end }}
{{- if has "podgroups-mutate" $names }}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [list, watch]
{{- end }}
{{- range $effect, $kind := dict "mutate" "mutating" "validate" "validating" }}
{{- $configurations := list -}}
{{- range $names }}{{ if hasSuffix $effect . }}{{ $configurations = append $configurations (printf "strata-admission-service-%s" .) }}{{ end }}{{ end -}}
{{- with $configurations }}
- apiGroups: [admissionregistration.k8s.io]
  resources: [{{ $kind }}webhookconfigurations]
  resourceNames: {{ toJson . }}
  verbs: [get, patch]
{{- end }}
{{- end }}
{{- end -}}

{{/* From where the agent may learn which pod asks for GPUs: the weakest source that it gets rights for. */}}
{{- define "strata.agentIdentity" -}}
{{- $usual := semverCompare ">=1.37.0-0" .Capabilities.KubeVersion.Version | ternary "pods-api" "lock" -}}
{{- .Values.custom.agent_publish_only | ternary "none" (default $usual .Values.custom.agent_identity) -}}
{{- end -}}

{{/* The rights that the agent needs with these values, and no others. */}}
{{- define "strata.agentRules" -}}
{{- $identity := include "strata.agentIdentity" . -}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, patch]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- if ne $identity "none" }}
- apiGroups: [""]
  resources: [pods]
  verbs: [patch]
- apiGroups: [resource.k8s.io]
  resources: [resourceslices]
  verbs: [list]
{{- end }}
{{- if eq $identity "pods" }}
- apiGroups: [""]
  resources: [nodes/pods]
  verbs: [get]
{{- end }}
{{- if eq $identity "lock" }}
- apiGroups: [""]
  resources: [pods]
  verbs: [list]
{{- end }}
{{- end -}}

{{/* The folders of the machine that the agent sees, as a JSON list. Those that a kubelet or a runtime may not have made yet are made. */}}
{{- define "strata.agentFolders" -}}
{{- $custom := .Values.custom -}}
{{- $folders := list
  (dict "name" "sys" "path" "/sys" "inside" "/host/sys" "type" "Directory" "readOnly" true)
  (dict "name" "state" "path" "/var/lib/strata-agent" "type" "DirectoryOrCreate") -}}
{{- if not $custom.agent_publish_only -}}
{{- $folders = concat $folders (list
  (dict "name" "device-plugins" "path" "/var/lib/kubelet/device-plugins" "type" "Directory")
  (dict "name" "pod-resources" "path" "/var/lib/kubelet/pod-resources" "type" "DirectoryOrCreate" "readOnly" true)
  (dict "name" "pods-api" "path" "/var/lib/kubelet/pods-api" "type" "DirectoryOrCreate" "readOnly" true)
  (dict "name" "cdi" "path" "/etc/cdi" "type" "DirectoryOrCreate" "readOnly" true)
  (dict "name" "cdi-run" "path" "/var/run/cdi" "type" "DirectoryOrCreate" "readOnly" true)) -}}
{{- with $custom.agent_hook_path -}}
{{- $folders = concat $folders (list
  (dict "name" "hook" "path" (printf "%s/vgpu" .) "type" "Directory")
  (dict "name" "hook-locks" "path" "/tmp/vgpulock" "type" "DirectoryOrCreate")) -}}
{{- end -}}
{{- end -}}
{{- toJson $folders -}}
{{- end -}}

{{/* Labels of an object. Call with (list root component). */}}
{{- define "strata.labels" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
app: strata-{{ $component }}
{{- with $root.Values.custom.common_labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The value of <key>_<what>, else that of default_<what>, as YAML; nothing when neither is set. Call with (list root key what). */}}
{{- define "strata.either" -}}
{{- $custom := (index . 0).Values.custom -}}
{{- $own := index $custom (printf "%s_%s" (index . 1) (index . 2)) -}}
{{- $value := default (index $custom (printf "default_%s" (last (splitList "_" (index . 2))))) $own -}}
{{- if $value }}{{ toYaml $value }}{{ end -}}
{{- end -}}

{{/* What every pod has. Call with (list root key). */}}
{{- define "strata.pod" -}}
{{- $root := index . 0 -}}
{{- $key := index . 1 -}}
priorityClassName: {{ eq $key "agent" | ternary "system-node-critical" "system-cluster-critical" }}
{{- with $root.Values.basic.image_pull_secret }}
imagePullSecrets:
- name: {{ . }}
{{- end }}
{{- with include "strata.either" (list $root $key "sc") }}
securityContext:
  {{- . | nindent 2 }}
{{- end }}
{{- with include "strata.either" (list $root $key "affinity") }}
affinity:
  {{- . | nindent 2 }}
{{- end }}
{{- with include "strata.either" (list $root $key "tolerations") }}
tolerations:
  {{- . | nindent 2 }}
{{- end }}
{{- with include "strata.either" (list $root $key "ns") }}
nodeSelector:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Which image. Call with (list root key). */}}
{{- define "strata.image" -}}
{{- $basic := (index . 0).Values.basic -}}
image: {{ $basic.image_registry }}/{{ index $basic (printf "%s_image_name" (index . 1)) }}:{{ $basic.image_tag_version }}
imagePullPolicy: {{ $basic.image_pull_policy }}
{{- end -}}

{{/* What every container has: probes, rights, resources. Call with (list root key). */}}
{{- define "strata.container" -}}
{{- $root := index . 0 -}}
{{- $key := index . 1 -}}
livenessProbe:
  httpGet:
    path: /livez
    port: healthz
  initialDelaySeconds: 5
  periodSeconds: 10
readinessProbe:
  httpGet:
    path: /readyz
    port: healthz
  periodSeconds: 5
{{- with include "strata.either" (list $root $key "main_csc") }}
securityContext:
  {{- . | nindent 2 }}
{{- end }}
{{- with index $root.Values.custom (printf "%s_resources" $key) }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Connections to a component are accepted from everywhere, to these ports and to no others. Call with (list root component ports). */}}
{{- define "strata.networkPolicy" -}}
{{- if (index . 0).Values.custom.network_policy_enable }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: strata-{{ index . 1 }}
  namespace: {{ include "strata.namespace" (index . 0) }}
  labels:
    {{- include "strata.labels" (list (index . 0) (index . 1)) | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      app: strata-{{ index . 1 }}
  policyTypes: [Ingress]
  ingress:
  - ports:
    {{- range index . 2 }}
    - port: {{ . }}
      protocol: TCP
    {{- end }}
{{- end }}
{{- end -}}

{{/* A Deployment, the Service of its metrics, and the ServiceMonitor of that. Call with a dict: root, component (its command), key (how values.yaml calls it), port, arguments; dumps where it writes some. */}}
{{- define "strata.component" -}}
{{- $root := .root -}}
{{- $custom := $root.Values.custom -}}
{{- $name := printf "strata-%s" .component -}}
{{- $metrics := index $custom (printf "%s_metrics_enable" .key) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ include "strata.namespace" $root }}
  labels:
    {{- include "strata.labels" (list $root .component) | nindent 4 }}
    {{- with index $custom (printf "%s_labels" .key) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  replicas: {{ index $custom (printf "%s_replicas" .key) }}
  selector:
    matchLabels:
      app: {{ $name }}
  template:
    metadata:
      labels:
        {{- include "strata.labels" (list $root .component) | nindent 8 }}
        {{- with index $custom (printf "%s_podLabels" .key) }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ $name }}
      {{- include "strata.pod" (list $root .key) | nindent 6 }}
      containers:
      - name: {{ $name }}
        {{- include "strata.image" (list $root .key) | nindent 8 }}
        args:
        - {{ .component }}
        - --leader-elect={{ $custom.leader_elect_enable }}
        - --enable-healthz
        - --healthz-address=:11251
        {{- if $metrics }}
        - --enable-metrics
        - --listen-address=:{{ .port }}
        {{- end }}
        {{- range .arguments }}
        - {{ . }}
        {{- end }}
        - -v={{ index $custom (printf "%s_log_level" .key) }}
        ports:
        {{- if $metrics }}
        - name: metrics
          containerPort: {{ .port }}
        {{- end }}
        - name: healthz
          containerPort: 11251
        {{- include "strata.container" (list $root .key) | nindent 8 }}
        {{- if .dumps }}
        volumeMounts:
        - name: dumps
          mountPath: /tmp
      volumes:
      - name: dumps
        emptyDir:
          sizeLimit: 1Gi
        {{- end }}
{{- $ports := $metrics | ternary (list "metrics" "healthz") (list "healthz") }}
{{- include "strata.networkPolicy" (list $root .component $ports) }}
{{- if $metrics }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}-service
  namespace: {{ include "strata.namespace" $root }}
  labels:
    {{- include "strata.labels" (list $root .component) | nindent 4 }}
  annotations:
    prometheus.io/path: /metrics
    prometheus.io/port: {{ .port | quote }}
    prometheus.io/scrape: "true"
spec:
  selector:
    app: {{ $name }}
  ports:
  - name: metrics
    port: {{ .port }}
    targetPort: metrics
    protocol: TCP
{{- if $custom.service_monitor_enable }}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ $name }}
  namespace: {{ include "strata.namespace" $root }}
  labels:
    {{- include "strata.labels" (list $root .component) | nindent 4 }}
    {{- with $custom.service_monitor_labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  jobLabel: app
  selector:
    matchLabels:
      app: {{ $name }}
  endpoints:
  - port: metrics
    {{- with $custom.service_monitor_interval }}
    interval: {{ . }}
    {{- end }}
{{- end }}
{{- end }}
{{- end -}}
