// Which records of an upstream's answer section belong to the question: those of the name asked for, of the names that
// aliases lead to from there, and the DNAMEs that make such aliases. Records of other names are nobody's answer: they are
// not passed on.

import type { Message, ResourceRecord } from '../../dns/message.ts'
import { equalNames, lowerName } from '../../dns/name.ts'
import { TYPE } from '../../dns/types.ts'

/** The message as it is, or without the records that answer nothing. */
export function relevantMessage(message: Message): Message {
  const [question] = message.questions
  const { answers } = message
  if (question === undefined || answers.every(({ name }) => equalNames(name, question.name))) return message
  const owners = relevantOwners(keyOf(question.name), answers)
  const kept = answers.filter(({ name }) => owners.has(keyOf(name)))
  return kept.length === answers.length ? message : { ...message, answers: kept }
}

function relevantOwners(asked: string, answers: readonly ResourceRecord[]): ReadonlySet<string> {
  const aliases = new Map<string, string>()
  const dnames = new Set<string>()
  for (const { name, type, rdata } of answers) {
    if (type === TYPE.CNAME) aliases.set(keyOf(name), keyOf(rdata))
    else if (type === TYPE.DNAME) dnames.add(keyOf(name))
  }
  const owners = new Set<string>()
  for (let name: string | undefined = asked; name !== undefined && !owners.has(name); name = aliases.get(name)) {
    owners.add(name)
    if (dnames.size > 0) for (const above of ancestors(name)) if (dnames.has(above)) owners.add(above)
  }
  return owners
}

function keyOf(name: Uint8Array): string {
  return Buffer.from(lowerName(name)).toString('latin1')
}

function* ancestors(name: string): Iterable<string> {
  for (let at = name.charCodeAt(0) + 1; at < name.length; at += name.charCodeAt(at) + 1) yield name.slice(at)
}
