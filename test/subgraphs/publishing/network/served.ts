import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import type { Medium, MediumKind } from '../../../../subgraphs/publishing/network/publication.ts'
import { mediumOf } from './twin.ts'

export type Served = Medium & { readonly sha256: string }

/** Serves media to networks that fetch them, for as long as the tests of a file run. @returns what makes one */
export function serveMedia(): (kind: MediumKind, file?: number | Buffer, altText?: string) => Served {
  const files = new Map<string, Served>()
  const server = createServer(async (request, response) => {
    const file = files.get(request.url ?? '')
    if (!file) return void response.writeHead(404).end()
    response.writeHead(200).end(Buffer.from(await new Response(await file.open()).arrayBuffer()))
  })
  let site = ''
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return (kind, file, altText) => {
    const made = mediumOf(kind, file, altText ?? null)
    const path = `/${made.sha256}`
    files.set(path, made)
    return { ...made, address: () => `${site}${path}` }
  }
}
