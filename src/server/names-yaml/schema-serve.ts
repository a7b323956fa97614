// `serve:` of names.yaml: where to answer, what to do with names no source has, and how to be watched.

import { z } from 'zod'
import { RCODE } from '../../dns/types.ts'
import { duration, flag, list, map, number, path, text, ttl } from '../../document/values.ts'
import { DEFAULT_UDP_BYTES } from '../corefile/directives/bufsize.ts'
import { FORWARD_DEFAULTS, POLICIES } from '../corefile/directives/forward.ts'
import { LOG_CLASSES } from '../corefile/directives/log.ts'
import { LONGEST_NSID } from '../views.ts'
import { domain, httpAddress, listenAddress, zones } from './values.ts'

const RCODES = Object.keys(RCODE) as (keyof typeof RCODE)[]
const FAILURES = RCODES.filter((name) => name !== 'NOERROR')

function rcodes(names: readonly (keyof typeof RCODE)[]) {
  return list(
    z
      .enum(names)
      .meta({ title: 'rcode' })
      .transform((name) => RCODE[name]),
    'a list of rcodes, such as [SERVFAIL]',
  )
}

const server = text('an address, or a file such as /etc/resolv.conf')
const servers = list(server, 'a list of addresses')
const from = domain.prefault('.').describe('Questions for this name and below.')
const to = servers.describe('Servers to ask: addresses with an optional port, or a file such as `/etc/resolv.conf`.')

const forwardRule = map(
  {
    from,
    to,
    except: zones.optional().describe('Zones left to others.'),
    policy: z.enum(POLICIES).prefault(FORWARD_DEFAULTS.policy).describe('Which server is asked first.'),
    force_tcp: flag.prefault(false).describe('Ask over TCP.'),
    max_fails: number(0, 1000)
      .prefault(FORWARD_DEFAULTS.maxFails)
      .describe('A server counts as down after so many failed health checks; 0 for never.'),
    health_check: duration({ from: '100ms', to: '1h' })
      .prefault('500ms')
      .describe('How often a failing server is tried.'),
    failover: rcodes(FAILURES).optional().describe('Answers after which the next server is asked.'),
  },
  'an address or a map with "to"',
)

const alternateRule = map({
  rcodes: rcodes(RCODES).describe('Answers after which these servers are asked instead.'),
  from,
  to,
})

const cacheRule = map({
  max_ttl: ttl({ from: '1s' })
    .optional()
    .describe('Longest time an answer is kept; 1h, and 30m when the name does not exist.'),
  capacity: number(0, 10_000_000).prefault(9984).describe('Answers kept, and again as many denials.'),
  prefetch: number(0, 1_000_000)
    .prefault(0)
    .describe('Ask again before the end for answers used so often; 0 for never.'),
  serve_stale: duration({ to: '168h' })
    .prefault('0s')
    .describe('How long to go on with an old answer while no server answers.'),
})

const logRule = map({
  names: zones.prefault(['.']).describe('Log questions below these names.'),
  format: text('a format').prefault('{common}').describe('`{common}`, `{combined}` or a format of your own.'),
  classes: list(z.enum(LOG_CLASSES), 'a list of classes').prefault(['all']).describe('Which answers are logged.'),
})

const reverseZones = zones.refine((found) => found.every((zone) => /(?:^|\.)(?:in-addr|ip6)\.arpa\.$/u.test(zone)), {
  error: 'a zone is below neither in-addr.arpa nor ip6.arpa; expected reverse zones, or networks such as 10.0.0.0/8',
})

const ptr = map(
  {
    zones: reverseZones.describe('Reverse zones, or networks such as `10.0.0.0/8`.'),
    ttl: ttl().prefault('60s').describe('TTL of the records.'),
  },
  'a map with "zones"',
)

export const serveSchema = map(
  {
    listen: list(listenAddress, 'a list of addresses, such as [127.0.0.1:53]')
      .prefault([':53'])
      .describe('Where to answer, UDP and TCP: `ADDRESS:PORT`, `"[ADDRESS]:PORT"` or `:PORT` for every address.'),
    forward: list(z.union([server, forwardRule], { error: 'an address or a map with "to"' }), 'a list of addresses')
      .optional()
      .describe(
        'Servers for what no source answers for: addresses, files such as `/etc/resolv.conf`, or rules for a part of the names.',
      ),
    alternate: list(alternateRule, 'a list of rules with "rcodes" and "to"')
      .optional()
      .describe('Servers that are asked instead when the answer so far has one of the given rcodes.'),
    cache: z
      .union([flag, ttl({ from: '1s' }), cacheRule], { error: 'true, false, a duration or a map' })
      .prefault(false)
      .describe('Keep answers of other servers: `true`, the longest time to keep them, or a map.'),
    ptr: ptr.optional().describe('Reverse zones filled from the A and AAAA records of all sources.'),
    load_balance: flag.prefault(true).describe('Hand out the A and AAAA records of a name in turn.'),
    nsid: z
      .union([flag, text('text')], { error: 'text, or true for the host name' })
      .prefault(false)
      .refine((nsid) => typeof nsid === 'boolean' || Buffer.byteLength(nsid) <= LONGEST_NSID, {
        error: `an identifier is too long; expected at most ${LONGEST_NSID} bytes`,
      })
      .describe('The identifier clients can ask for (RFC 5001): a text, or `true` for the host name.'),
    bufsize: number(512, 4096).prefault(DEFAULT_UDP_BYTES).describe('The largest UDP answer, in bytes.'),
    loop: flag.prefault(false).describe('Stop when our own question comes back through a forwarder.'),
    log: z
      .union([flag, logRule], { error: 'true, false or a map' })
      .prefault(false)
      .describe('Log queries: `true` for all of them, or a map.'),
    health: httpAddress.optional().describe('Serve HTTP `/health` there.'),
    status: z
      .union([z.literal(false), httpAddress], { error: 'false or ADDRESS:PORT' })
      .optional()
      .describe(
        'Serve HTTP `/status` there: paths, endpoints, zones and errors. Next to `/health` unless given; `false` for nowhere.',
      ),
    lameduck: duration({ to: '10m' })
      .prefault('0s')
      .describe('Go on answering for so long after SIGTERM, while `/health` fails.'),
    ready: httpAddress.optional().describe('Serve HTTP `/ready` there.'),
    metrics: httpAddress.optional().describe('Serve Prometheus `/metrics` there.'),
    state: path
      .optional()
      .describe(
        'Directory for the last good state of each source, to start from when the source is away. Without it: `$STATE_DIRECTORY`, else `/var/lib/holdfast` for root and `~/.local/state/holdfast` for others.',
      ),
    reload: z
      .union([z.literal(false), duration({ from: '2s', to: '24h' })], { error: 'false or a duration' })
      .prefault(false)
      .describe(
        'Load this file again when it, or a file it names for a secret, changes; the interval is for changes that inotify does not report.',
      ),
  },
  'a map',
)

export type ServeDocument = z.output<typeof serveSchema>
