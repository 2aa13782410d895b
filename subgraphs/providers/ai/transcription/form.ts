import { DomainError } from '../../../../platform/errors.ts'

/** Maximum parts of a form: the existing fields, some of them twice. */
const mostParts = 32
/** Maximum bytes of one part's headers, and of one field's text. */
const longestHead = 2_048
const longestField = 64 * 1024

/** A form's file as a range of the body, which is not copied. */
export interface FormFile {
  readonly name: string
  readonly type: string
  readonly bytes: Uint8Array
}

export interface Form {
  readonly fields: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, FormFile>>
}

const bad = (sentence: string): DomainError => new DomainError('BAD_USER_INPUT', sentence)
const broken = () => bad('The body is not multipart/form-data: a part of it does not begin or end as its boundary says.')

/**
 * Reads a body of `multipart/form-data` (RFC 7578) in one pass, within limits.
 * @throws BAD_USER_INPUT
 */
export function readForm(contentType: string, body: Uint8Array): Form {
  const boundary = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i.exec(contentType)
  if (!boundary) throw bad('The content type must be multipart/form-data with a boundary.')
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const line = Buffer.from(`\r\n--${boundary[1] ?? boundary[2]}`)
  const fields: Record<string, string> = Object.create(null)
  const files: Record<string, FormFile> = Object.create(null)
  // The first boundary has no line end before it.
  let at = bytes.subarray(0, line.length - 2).equals(line.subarray(2)) ? line.length - 2 : endOf(bytes, line, 0)
  for (let parts = 0; ; parts++) {
    if (bytes.toString('latin1', at, at + 2) === '--') return { fields, files }
    if (parts === mostParts) throw bad(`The form has more than ${mostParts} parts.`)
    const begin = bytes.indexOf('\r\n', at)
    const head = begin < 0 ? -1 : bytes.indexOf('\r\n\r\n', begin)
    const end = head < 0 ? -1 : bytes.indexOf(line, head + 2)
    if (begin < 0 || begin - at > 100 || head < 0 || head - begin > longestHead || end < 0) throw broken()
    const part = headOf(bytes.toString('utf8', begin + 2, head))
    const content = bytes.subarray(Math.min(head + 4, end), end)
    if (part.name in fields || part.name in files) throw bad(`The form has ${part.name} twice.`)
    if (part.filename !== null) files[part.name] = { name: part.filename, type: part.type, bytes: content }
    else if (content.length > longestField) throw bad(`${part.name} is longer than ${longestField} bytes.`)
    else fields[part.name] = content.toString('utf8')
    at = end + line.length
  }
}

function endOf(bytes: Buffer, line: Buffer, from: number): number {
  const found = bytes.indexOf(line, from)
  if (found < 0) throw broken()
  return found + line.length
}

/**
 * Reads the headers of a part. Quotes and line breaks in names are escaped as browsers do (HTML, multipart/form-data).
 */
function headOf(text: string): { readonly name: string; readonly filename: string | null; readonly type: string } {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(text)?.[1] ?? ''
  const word = (name: string) => new RegExp(`(?:^|[;\\s])${name}="((?:[^"\\\\]|\\\\.)*)"`, 'i').exec(disposition)?.[1] ?? null
  const [name, filename] = [word('name'), word('filename')]
  if (name === null || name === '' || name.length > 100) throw broken()
  return { name, filename, type: /^content-type:\s*([^\r\n]{1,200})/im.exec(text)?.[1]?.trim() ?? 'application/octet-stream' }
}

/** Writes a form in pieces, so that a large file is copied once, into the sent body. */
export function writeForm(fields: Readonly<Record<string, string>>, file: FormFile, boundary: string): Uint8Array<ArrayBuffer> {
  const written = Object.entries(fields).map(([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  const name = file.name.replace(/["\r\n\\]/g, '_').slice(0, 200) || 'audio'
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(file.type) ? file.type : 'application/octet-stream'
  const head = `${written.join('')}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: ${type}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)])
}
