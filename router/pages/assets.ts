import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { tagOfBody } from '../rest/preconditions.ts'

/** A file that pages load. */
export interface Asset {
  readonly path: string
  readonly type: 'text/javascript' | 'text/css' | 'image/png' | 'image/svg+xml'
  /** Loads the asset; it is read at the first request, and kept compressed. */
  load(): Promise<string | Buffer | Packed>
}

/** An asset that is compressed with gzip already. */
export interface Packed {
  readonly packed: Buffer
}

interface Loaded extends Packed {
  readonly etag: string
}

const [pack, unpack] = [promisify(gzip), promisify(gunzip)]

/** A file beside the code of ours. */
export const ownFile = (name: string) => () => readFile(new URL(`browser/${name}`, import.meta.url), 'utf8')

/**
 * Returns the path of a package's file. @param specifier as in an import @param beside relative path from there, for
 * files that no import reaches
 */
export const packageFile =
  (specifier: string, beside = '') =>
  () =>
    readFile(new URL(beside, import.meta.resolve(specifier)))

/**
 * Serves files for pages, compressed for clients that accept it. Browsers revalidate each time, because addresses stay
 * the same when the platform is upgraded.
 */
export function serveAssets(app: FastifyInstance, list: readonly Asset[]): void {
  for (const { path, type, load } of list) {
    let loaded: Promise<Loaded> | undefined
    app.get(path, async (request, reply) => {
      loaded ??= read(load)
      const { packed, etag } = await loaded.catch(error => {
        loaded = undefined
        throw error
      })
      reply.headers({ etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding', 'content-type': type === 'image/png' ? type : `${type}; charset=utf-8` })
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(await unpack(packed))
      return reply.header('content-encoding', 'gzip').send(packed)
    })
  }
}

async function read(load: Asset['load']): Promise<Loaded> {
  const found = await load()
  const packed = typeof found === 'object' && 'packed' in found ? found.packed : await pack(found)
  return { packed, etag: tagOfBody(packed.toString('latin1')) }
}
