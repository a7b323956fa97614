// The fields that objects can have, at whatever depth, as the Kubernetes API spells them: what an object does not have
// is then told from what is misspelt. Behind a name stands what Go has in its place: [] a list, {} a map, # an integer,
// ? a boolean; nothing: text, or nothing at all.

import { ABSENT, ListValue, MapValue, type StructFields, type Value } from './template-value.ts'

const CONDITIONS = 'conditions[] lastTransitionTime message observedGeneration# reason status type'
const LOAD_BALANCER = 'loadBalancer ingress[] ip hostname ipMode ports[] port protocol error'

const SERVICE = `allocateLoadBalancerNodePorts appProtocol clientIP clusterIP clusterIPs[] externalIPs[] externalName
  externalTrafficPolicy healthCheckNodePort# internalTrafficPolicy ipFamilies[] ipFamilyPolicy loadBalancerClass
  loadBalancerIP loadBalancerSourceRanges[] name nodePort# publishNotReadyAddresses? selector{} sessionAffinity
  sessionAffinityConfig targetPort timeoutSeconds trafficDistribution ${LOAD_BALANCER} ${CONDITIONS}`

const INGRESS = `apiGroup backend defaultBackend host hosts[] http ingressClassName kind name number# path pathType
  paths[] resource rules[] secretName service tls[] ${LOAD_BALANCER}`

const NODE = `active address addresses[] allocatable{} architecture assigned bootID capacity{} config configMap
  configSource containerRuntimeVersion daemonEndpoints declaredFeatures[] devicePath effect error externalID features
  images[] kernelVersion key kubeletConfigKey kubeletEndpoint kubeletVersion kubeProxyVersion lastHeartbeatTime
  lastKnownGood machineID name names[] namespace nodeInfo operatingSystem osImage phase podCIDR podCIDRs[] port#
  providerID recursiveReadOnlyMounts resourceVersion runtimeHandlers[] sizeBytes# supplementalGroupsPolicy swap
  systemUUID taints[] timeAdded uid unschedulable? userNamespaces value volumesAttached[] volumesInUse[] ${CONDITIONS}`

const ROUTE = `absoluteTimeout add[] allowCredentials allowedHeaders[] allowedResponseHeaders[] allowHeaders[]
  allowMethods[] allowOrigins[] attempts backendRefs[] backendRequest backoff codes[] controllerName cookieConfig cors
  denominator exposeHeaders[] extensionRef externalAuth filters[] forwardBody fraction group grpc headers[] hostname
  hostnames[] http kind lifetimeType matches[] maxAge# maxSize# method name namespace numerator# parentRef parentRefs[]
  parents[] path percent port protocol queryParams[] remove[] replaceFullPath replacePrefixMatch request
  requestHeaderModifier requestMirror requestRedirect responseHeaderModifier retry rules[] scheme sectionName service
  sessionName sessionPersistence set[] statusCode timeouts urlRewrite useDefaultGateways value weight ${CONDITIONS}`

const METADATA = `annotations{} creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers[] generateName
  generation# labels{} name namespace ownerReferences[] resourceVersion selfLink uid apiVersion blockOwnerDeletion
  controller kind`

export const METADATA_FIELDS = fieldsOf(METADATA)

/** By kind. */
export const OBJECT_FIELDS: Readonly<Record<string, StructFields>> = {
  Service: fieldsOf(SERVICE),
  Ingress: fieldsOf(INGRESS),
  Node: fieldsOf(NODE),
  ...Object.fromEntries(
    ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'].map((kind) => [kind, fieldsOf(ROUTE)]),
  ),
}

function fieldsOf(names: string): StructFields {
  const written = names.split(/\s+/u).map((each) => /^(\w+)(.*)$/u.exec(each) ?? [])
  return new Map(written.map(([, name = '', mark = '']) => [name.toLowerCase(), zeroOf(mark)]))
}

function zeroOf(mark: string): Value {
  switch (mark) {
    case '[]':
      return new ListValue([], 'any')
    case '{}':
      return new MapValue({}, 'strings')
    case '#':
      return 0n
    case '?':
      return false
    default:
      return ABSENT
  }
}
