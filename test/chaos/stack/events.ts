// All that can happen to a stack.

import { addAndRemoveMember, killUp } from './changes.ts'
import {
  deleteLogs,
  killKeeper,
  killKeeperThenSupervisor,
  killKind,
  killMachine,
  killPrimary,
  killPrimaryServer,
  killProcess,
  killService,
  killSupervisor,
  losePower,
  losePrimary,
  pauseMachine,
  pausePrimary,
} from './kills.ts'
import type { StackEvent } from './scene.ts'

export const EVENTS = {
  'process killed': killProcess,
  'service killed': killService,
  'machine killed': killMachine,
  'machine paused': pauseMachine,
  'primary killed': killPrimary,
  'primary server killed': killPrimaryServer,
  'primary lost': losePrimary,
  'primary paused beyond its TTL': pausePrimary,
  'all etcd killed': killKind('etcd'),
  'all name servers killed': killKind('dns'),
  'all PostgreSQL killed': killKind('postgres'),
  'supervisor killed': killSupervisor,
  'keeper killed': killKeeper,
  'keeper, then supervisor killed': killKeeperThenSupervisor,
  'power lost': losePower,
  'logs deleted': deleteLogs,
  'etcd member added, one removed': addAndRemoveMember('etcd'),
  'PostgreSQL member added, one removed': addAndRemoveMember('postgres'),
  'up killed': killUp,
} satisfies Readonly<Record<string, StackEvent>>

export type EventName = keyof typeof EVENTS
