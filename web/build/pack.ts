import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const [brotli, packed] = [promisify(brotliCompress), promisify(gzip)]

/** Writes files into a folder, and beside each that is text the same as brotli and gzip. */
export async function pack(folder: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  await Promise.all(
    [...files].map(async ([name, content]) => {
      const bytes = Buffer.from(content as string)
      await writeFile(join(folder, name), bytes)
      if (!/\.(?:js|css)$/.test(name)) return
      const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
      await writeFile(join(folder, `${name}.br`), await brotli(bytes, { params }))
      await writeFile(join(folder, `${name}.gz`), await packed(bytes, { level: 9 }))
    }),
  )
}
