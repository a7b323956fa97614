// A port inside a lab whose connections go to a socket in the file system: `node relay-port.ts ADDRESS SOCKET` (archive-relay.ts).

import { connect, createServer } from 'node:net'

const [, , address, socket] = process.argv

createServer((inside) => {
  const outside = connect(socket)
  inside.pipe(outside).pipe(inside)
  inside.on('error', () => outside.destroy())
  outside.on('error', () => inside.destroy())
}).listen(80, address, () => process.stdout.write('listening\n'))
