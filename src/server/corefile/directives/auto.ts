// `auto [ZONES...] { directory DIR [REGEXP ORIGIN_TEMPLATE]; reload DURATION; fallthrough [ZONES...] }`:
// a zone for every matching file of a directory.

import { readArguments, readOptions } from '../arguments.ts'
import { readGoRegExp } from '../read-go-regexp.ts'
import type { Token } from '../lexer.ts'
import { reject } from '../problem.ts'
import { readZones } from '../zones.ts'
import type { Directive } from './directive.ts'
import { DEFAULT_RELOAD_MS, ignoreUpstream, readFallthrough, readReload, underRoot } from './zone-files.ts'

const USAGE = 'directory DIR [REGEXP ORIGIN_TEMPLATE]'

export const auto: Directive = (statement, scope) => {
  let directory: string | undefined
  let pattern: RegExp | string = /db\.(.*)/u
  let template = expandable('{1}')
  let reloadMs = DEFAULT_RELOAD_MS
  let fallthrough: readonly string[] = []
  readOptions(statement, {
    directory: (option) => {
      const [path, regexp, origin] = readArguments(option, USAGE, 1, 3)
      if (path.text === '') reject(path, `the path is empty; expected ${USAGE}`)
      directory = underRoot(scope.root, path.text)
      if (regexp === undefined) return
      if (origin === undefined) reject(regexp, `REGEXP comes without ORIGIN_TEMPLATE; expected ${USAGE}`)
      pattern = readPattern(regexp)
      template = expandable(origin.text)
    },
    reload: (option) => {
      reloadMs = readReload(option)
    },
    fallthrough: (option) => {
      fallthrough = readFallthrough(option)
    },
    upstream: (option) => ignoreUpstream(option, scope),
  })
  if (directory === undefined) reject(statement.name, `"auto" has no directory; expected a block with ${USAGE}`)
  const zones = statement.args.length === 0 ? scope.zones : readZones(statement.args)
  return { autos: [{ zones, directory, pattern, template, reloadMs, fallthrough }] }
}

/** `{1}` as Corefiles write it to `${1}`, the form that is expanded. Every "{" gets its "$", closed or not. */
export function expandable(template: string): string {
  return template.replaceAll('{', () => '${')
}

function readPattern(token: Token): string {
  if (readGoRegExp(token).captureGroups > 0) return token.text
  return reject(token, `"${token.text}" captures nothing; expected a group, such as db\\.(.*)`)
}
