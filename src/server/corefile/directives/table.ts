// Every directive a server block may have. To add one: a file beside this one and a line here.

import { alternate } from './alternate.ts'
import { any } from './any.ts'
import { auto } from './auto.ts'
import { bind } from './bind.ts'
import { bufsize } from './bufsize.ts'
import { cache } from './cache.ts'
import type { Directive } from './directive.ts'
import { errors } from './errors.ts'
import { etcd } from './etcd.ts'
import { file } from './file.ts'
import { forward } from './forward.ts'
import { health } from './health.ts'
import { loadbalance } from './loadbalance.ts'
import { log } from './log.ts'
import { loop } from './loop.ts'
import { nsid } from './nsid.ts'
import { prometheus } from './prometheus.ts'
import { ready } from './ready.ts'
import { reload } from './reload.ts'
import { root } from './root.ts'

export const DIRECTIVES: Readonly<Record<string, Directive>> = {
  alternate,
  any,
  auto,
  bind,
  bufsize,
  cache,
  errors,
  etcd,
  file,
  forward,
  health,
  loadbalance,
  log,
  loop,
  nsid,
  prometheus,
  ready,
  reload,
  root,
}

/** These may stand several times in a block; each adds to the ones above. */
export const REPEATABLE: ReadonlySet<string> = new Set(['alternate', 'auto', 'bind', 'etcd', 'file', 'forward', 'log'])

/** CoreDNS's other plugins, so that a Corefile that uses one gets told what is missing rather than "unknown". */
export const MISSING_PLUGINS: ReadonlySet<string> = new Set(
  (
    'acl autopath azure cancel chaos clouddns debug dns64 dnssec dnstap erratic geoip grpc grpc_server header ' +
    'hosts https https3 k8s_external kubernetes local metadata minimal multisocket nomad on pprof proxyproto quic ' +
    'rewrite route53 secondary shed sign template timeouts tls trace transfer tsig view whoami'
  ).split(' '),
)
