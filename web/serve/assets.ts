import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { dist } from './built.ts'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}
const packings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** Whether a client takes a content coding that it names: one of weight 0 it refuses (RFC 9110, 12.5.3). @param header `Accept-Encoding` */
export const takesCoding = (header: string | undefined, coding: string): boolean =>
  (header ?? '').split(',').some(each => {
    const [name, ...parameters] = each.split(';').map(part => part.trim().toLowerCase())
    return name === coding && !parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter))
  })

/**
 * Serves the files of the build, and of the one before it, on every host. Their names say their content, so they are kept for a year.
 * What is not there falls to whoever answers unknown addresses.
 * @param names of files that there are
 * @param unknown refuses one that is not among them
 */
export function serveAssets(app: FastifyInstance, isKnown: (name: string) => boolean, unknown: () => Error): void {
  const kept = new Map<string, Promise<Buffer>>()
  const read = (name: string) => {
    let found = kept.get(name)
    if (!found) {
      found = readFile(join(dist, 'assets', name))
      kept.set(name, found)
      found.catch(() => kept.delete(name))
    }
    return found
  }
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const { name } = request.params
    const type = types[extname(name)]
    reply.header('cache-control', 'no-store')
    if (!type || !isKnown(name)) throw unknown()
    const isText = /\.(?:js|css)$/.test(name)
    const accepted = request.headers['accept-encoding']?.toString()
    const [coding, extension] = (isText && packings.find(([coding]) => takesCoding(accepted, coding))) || [null, '']
    const content = await read(`${name}${extension}`).catch(() => {
      throw unknown()
    })
    reply.headers({
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'accept-encoding',
      ...(coding && { 'content-encoding': coding }),
    })
    return reply.send(content)
  })
}
