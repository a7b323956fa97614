// Why an address cannot be listened on, in words that help.

import { isIPv6 } from 'node:net'
import { HoldfastError } from '../lib/errors.ts'

/** `code` is the name of the errno. */
export function cannotListen(protocol: 'UDP' | 'TCP', host: string, port: number, code: string): HoldfastError {
  const subject = `Cannot listen on "${isIPv6(host) ? `[${host}]` : host}:${port}" (${protocol})`
  if (code === 'EADDRINUSE') {
    const flags = protocol === 'UDP' ? '-lunp' : '-ltnp'
    return new HoldfastError('PortInUse', `${subject}: another program has it; expected a free address`, {
      hint: `see which one with: ss ${flags} 'sport = :${port}'`,
    })
  }
  if (code === 'EACCES')
    return new HoldfastError(
      'CannotListen',
      `${subject}: not permitted; ports below 1024 need root or CAP_NET_BIND_SERVICE`,
    )
  if (code === 'EADDRNOTAVAIL')
    return new HoldfastError(
      'CannotListen',
      `${subject}: this host does not have that address; expected one of its own`,
    )
  return new HoldfastError('CannotListen', `${subject}: ${code}; expected an address of this host`)
}
