// From a configured connection to the one a client or a thread is handed: the only place that reveals the password.

import type { EtcdOptions } from '../etcd/options.ts'
import type { EtcdConnection } from './config.ts'

export function etcdOptions({ password, ...options }: EtcdConnection): EtcdOptions {
  return password === undefined ? options : { ...options, password: password.reveal() }
}
