import { gzipSync } from 'node:zlib'

/** A file of the package: its path in it, and its content. */
export interface PackedFile {
  readonly path: string
  readonly text: string
  readonly isProgram?: boolean
}

/** The date that npm gives every file of a package, so that equal files make equal archives. */
const date = Date.parse('1985-10-26T08:15:00.000Z') / 1000

/** Writes files as the archive of an npm package (ustar, gzip), in the order of their paths. */
export function archive(files: readonly PackedFile[]): Buffer {
  const blocks: Buffer[] = []
  for (const { path, text, isProgram = false } of files.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
    const content = Buffer.from(text)
    blocks.push(headerOf(`package/${path}`, content.length, isProgram ? 0o755 : 0o644), content, Buffer.alloc((512 - (content.length % 512)) % 512))
  }
  const zipped = gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]), { level: 9 })
  // The system on which it was made.
  zipped[9] = 255
  return zipped
}

function headerOf(name: string, size: number, mode: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long a path for an archive`)
  const header = Buffer.alloc(512)
  const octal = (value: number, at: number, length: number) => header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at)
  header.write(name, 0)
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(date, 136, 12)
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
