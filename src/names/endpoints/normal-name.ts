// One spelling for each name, so that names can be compared and be keys of maps.

import { domainToASCII, domainToUnicode } from 'node:url'

const ASCII = /^[\u0000-\u007f]*$/u
/** Lower case already, and without dots or spaces at its end. */
const NORMAL = /^[!-@[-~]*[!-\-/-@[-~]$/u

/** In ASCII, lower case, without the final dot. What IDNA refuses is only put into lower case. */
export function normalName(name: string): string {
  if (NORMAL.test(name)) return name
  const text = plain(name)
  // What is ASCII needs no IDNA, which takes names such as `1.2.3` for addresses.
  return ASCII.test(text) ? text : domainToASCII(text) || text
}

/** As people read it: without punycode. */
export function readableName(name: string): string {
  const text = plain(name)
  return ASCII.test(text) && !text.includes('xn--') ? text : domainToUnicode(text) || text
}

function plain(name: string): string {
  return name.trim().replace(/\.$/u, '').toLowerCase()
}
