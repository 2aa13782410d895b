import { createHash } from 'node:crypto'
import type { Call } from '../../network.ts'
import type { Form } from '../form.ts'
import type { Objects, StripeObject } from '../objects.ts'
import { invalid } from '../problems.ts'

/** What evidence may be, and how large (https://docs.stripe.com/file-upload). */
const types: Readonly<Record<string, string>> = { 'application/pdf': 'pdf', 'image/jpeg': 'jpg', 'image/png': 'png' }
const maxBytes = 5 * 1024 * 1024

/**
 * Reads a body in parts as one of names and texts, with the file's facts under `file`: the border between the parts is another at each try, so
 * that bodies could not be compared under their key.
 */
export async function readParts(call: Call): Promise<Call> {
  const type = String(call.headers['content-type'] ?? '')
  if (!type.startsWith('multipart/form-data')) return call
  const fields = new URLSearchParams()
  const form = await new Response(new Uint8Array(call.body), { headers: { 'content-type': type } }).formData()
  for (const [name, value] of form) {
    if (typeof value === 'string') fields.append(name, value)
    else {
      const bytes = new Uint8Array(await value.arrayBuffer())
      const facts = { name: value.name, type: value.type, size: String(bytes.length), sha256: createHash('sha256').update(bytes).digest('hex') }
      for (const [fact, text] of Object.entries(facts)) fields.append(`${name}[${fact}]`, text)
    }
  }
  return { ...call, body: Buffer.from(fields.toString()) }
}

/** Keeps what is known of a file that evidence can name. */
export function createFile(objects: Objects, form: Form): StripeObject {
  const purpose = form.oneOf('purpose', ['dispute_evidence'])
  if (!purpose) throw invalid('Missing required param: purpose.', 'purpose', 'parameter_missing')
  const file = form.part('file')
  if (!file) throw invalid('Missing required param: file.', 'file', 'parameter_missing')
  const [filename, type, size] = [file.need('name'), file.need('type'), file.whole('size') ?? 0]
  file.pass('sha256')
  form.end()
  if (!Object.hasOwn(types, type)) throw invalid('You may only upload one of these types for dispute evidence: jpg, pdf, png.', 'file')
  if (size < 1 || size > maxBytes) throw invalid(`Files for dispute evidence have 1 byte to 5 MB: this one has ${size} bytes.`, 'file')
  return objects.add('file', { purpose, filename, size, type: types[type], title: null, url: null, expires_at: null, metadata: {} })
}
