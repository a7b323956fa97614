// The zone that a file of a zone directory is: `db.ZONE`, `ZONE.zone` or `ZONE`, as the name server takes them.

const FILE_NAME = /^(?:db\.(.+)|(.+)\.zone|(.+))$/u

/** Lower case, without the final dot. */
export function zoneOrigin(fileName: string): string {
  const [, ...found] = FILE_NAME.exec(fileName) ?? []
  return (found.find((name) => name !== undefined) ?? '').toLowerCase().replace(/\.$/u, '')
}
