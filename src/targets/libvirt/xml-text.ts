// Text as it stands in XML, and elements on lines of their own.

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Between tags, where quotes may stay as they are. */
export function xmlText(text: string): string {
  return text.replaceAll(/[&<>]/gu, (character) => ENTITIES[character])
}

/** Of an attribute, with either kind of quotes. */
export function xmlValue(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (character) => ENTITIES[character])
}

/** `tag`: its name and attributes. */
export function xmlElement(tag: string, children: readonly string[]): string {
  const [name] = tag.split(' ')
  return [`<${tag}>`, ...children.map(indented), `</${name}>`].join('\n')
}

function indented(text: string): string {
  return text.replaceAll(/^/gmu, '  ')
}
