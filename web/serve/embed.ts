import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply } from 'fastify'
import { type Built, dist } from './built.ts'

/** Pages of others keep the script of the public chat so long, in seconds: a new build reaches them within that time. */
const keptSeconds = 300

/** Answers the script that puts the public chat on any page: unlike our own files, pages of every origin may load it. */
export async function sendEmbed(reply: FastifyReply, { embed }: Built): Promise<FastifyReply> {
  return reply
    .headers({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': `public, max-age=${keptSeconds}`,
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      etag: `"${embed}"`,
    })
    .send(await readFile(join(dist, 'assets', embed)))
}
