// `file DBFILE [ZONES...] { reload DURATION; fallthrough [ZONES...] }`: zones from one zone file.

import { readArguments, readOptions } from '../arguments.ts'
import { reject } from '../problem.ts'
import { readZones } from '../zones.ts'
import type { Directive } from './directive.ts'
import { DEFAULT_RELOAD_MS, ignoreUpstream, readFallthrough, readReload, underRoot } from './zone-files.ts'

export const file: Directive = (statement, scope) => {
  const [path, ...names] = readArguments(statement, 'file DBFILE [ZONES...]', 1, Infinity)
  if (path.text === '') reject(path, 'the path is empty; expected the path of a zone file')
  let reloadMs = DEFAULT_RELOAD_MS
  let fallthrough: readonly string[] = []
  readOptions(statement, {
    reload: (option) => {
      reloadMs = readReload(option)
    },
    fallthrough: (option) => {
      fallthrough = readFallthrough(option)
    },
    reload_by_mtime: (option) => {
      readArguments(option, 'reload_by_mtime', 0)
      scope.notice(option.name, '"reload_by_mtime" has no effect: changes are always noticed, by content')
    },
    upstream: (option) => ignoreUpstream(option, scope),
  })
  const zones = names.length === 0 ? scope.zones : readZones(names)
  return { files: [{ path: underRoot(scope.root, path.text), zones, reloadMs, fallthrough }] }
}
