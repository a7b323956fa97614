// `bind ADDRESS|INTERFACE... { except ADDRESS|INTERFACE... }`: where to listen. Interfaces are looked up when
// the server starts, not here, so that a Corefile can be checked on another machine.

import { isIP } from 'node:net'
import { readArguments, readOptions } from '../arguments.ts'
import type { Token } from '../lexer.ts'
import { reject } from '../problem.ts'
import type { Directive } from './directive.ts'

/** Linux: 15 bytes, neither "/" nor white space. */
const INTERFACE = /^[^\s/:]{1,15}$/u

export const bind: Directive = (statement) => {
  const addresses = readArguments(statement, 'bind ADDRESS|INTERFACE...', 1, Infinity).map(readAddress)
  let except: string[] = []
  readOptions(statement, {
    except: (option) => {
      except = readArguments(option, 'except ADDRESS|INTERFACE...', 1, Infinity).map(readAddress)
    },
  })
  return { bind: addresses, ...(except.length > 0 && { bindExcept: except }) }
}

function readAddress(token: Token): string {
  const { text } = token
  const looksLikeAddress = /^[\d.]+$/u.test(text)
  if (isIP(text) !== 0 || (!looksLikeAddress && INTERFACE.test(text))) return text
  return reject(token, `"${text}" is neither an IP address nor an interface; expected one of them, without a port`)
}
