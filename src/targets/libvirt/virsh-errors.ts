// What virsh says when something fails, sorted by what can be done about it. libvirt has no codes on the command line, so
// words are read: those of virsh and of the library in it, which LC_ALL=C keeps English. The reason behind them is often the
// daemon's, in the language of its host: whether something is there, or on, is never read from it. That the daemon refuses us
// is, for the hint alone.

import { HoldfastError } from '../../lib/errors.ts'

const UNREACHABLE_HINT =
  'see whether libvirtd (or virtqemud) runs there and the address is right, and whether "ssh HOST" works without a question'
const LOCAL_HINT =
  'see whether libvirtd (or virtqemud) runs: systemctl start libvirtd; where there is no systemd: virtlogd -d && libvirtd -d'
const REFUSED_HINT =
  'run as root or as a member of the group "libvirt"; by ssh, as a user who is one, whose key and host key are known'
const NO_DRIVER_HINT = 'see whether the address is right, and the driver of that name is installed with libvirt'

/** The connection was there and broke: also when virsh made a new one, as the question may have got lost. */
const LOST =
  /Disconnected from|Failed to reconnect|Reconnected to|End of file while reading data|client socket is closed|Cannot (?:recv|write|read) data|keepalive timeout/u
/** polkit's names of what it refuses are the same in every language. */
const DENIED =
  /Permission denied|Host key verification failed|authentication (?:failed|unavailable|cancelled)|access denied|org\.libvirt\./iu
const FORBIDDEN = /^(?:authentication (?:failed|unavailable|cancelled)|access denied|operation forbidden)/imu

/** `action` continues "Cannot", such as `start domain "x"`. `words` are what virsh printed as errors. */
export function virshError(action: string, uri: string, words: string): HoldfastError {
  const told = tell(words)
  const message = `Cannot ${action} on ${uri}: ${told}`
  if (/failed to connect to the hypervisor/u.test(words)) return connectionError(message, told)
  if (isLost(words)) return unreachable(message)
  if (FORBIDDEN.test(told)) return new HoldfastError('HypervisorRefused', message, { hint: REFUSED_HINT })
  if (/^error: failed to get domain '/mu.test(words)) return new HoldfastError('DomainMissing', message)
  return new HoldfastError('LibvirtFailed', message)
}

function connectionError(message: string, told: string): HoldfastError {
  if (DENIED.test(told)) return new HoldfastError('HypervisorRefused', message, { hint: REFUSED_HINT })
  if (/no connection driver/u.test(told)) return new HoldfastError('LibvirtFailed', message, { hint: NO_DRIVER_HINT })
  return unreachable(message)
}

export function unreachable(message: string): HoldfastError {
  const hint = / on \w+:\/\/\//u.test(message) ? LOCAL_HINT : UNREACHABLE_HINT
  return new HoldfastError('HypervisorUnreachable', message, { hint, retryable: true })
}

export function isLost(words: string): boolean {
  return LOST.test(words)
}

/** Without what virsh puts before the reason, which `action` says better. */
function tell(words: string): string {
  const lines = words
    .split('\n')
    .map((line) => line.replace(/^error: /u, '').trim())
    .filter((line) => line !== '')
  const reasons = lines.filter((line) => !/^failed to /iu.test(line) || line.startsWith('Failed to connect socket'))
  return (reasons.length === 0 ? lines : reasons).join('; ') || 'virsh gives no reason'
}
