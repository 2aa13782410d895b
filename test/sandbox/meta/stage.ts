import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BoundClock, createBoundClock } from '../../../platform/clock.ts'
import { type Sandbox, startSandbox } from '../../../sandbox/server.ts'
import { type Answer, send } from '../stage.ts'

export type MetaName = 'threads' | 'instagram' | 'facebook'

/** Bytes that begin as what they are named after. */
export const files = {
  'a.jpg': Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(500, 'j')]),
  'b.jpg': Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(700, 'k')]),
  'a.png': Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(300, 'p')]),
  'a.mp4': Buffer.concat([Buffer.from('00000018667479706d703432', 'hex'), Buffer.alloc(900, 'm')]),
  'a.html': Buffer.from('<!doctype html>'),
} as const

export const hashOfFile = (name: keyof typeof files): string => createHash('sha256').update(files[name]).digest('hex')

export interface MetaStage extends AsyncDisposable {
  readonly sandbox: Sandbox
  readonly clock: BoundClock
  /** Where the demo application is sent back to, and pictures are found: a server that answers 200 and keeps what was posted. */
  readonly site: string
  readonly posted: readonly { readonly path: string; readonly body: string }[]
  readonly redirectUri: string
  /** Calls the network: parameters in the address, or as a form. */
  get(path: string, parameters?: Record<string, string>): Promise<Answer>
  post(path: string, parameters?: Record<string, string>, method?: string): Promise<Answer>
  /** A code that an account has agreed to, as it stands in the address to which the browser is sent. */
  consent(scope: string, more?: Record<string, string>): Promise<URL>
  arm(fault: Record<string, unknown>): Promise<Answer>
  emit(what: Record<string, unknown>): Promise<Answer>
  // biome-ignore lint/suspicious/noExplicitAny: what was received is looked into field by field
  received(): Promise<any[]>
}

/** A sandbox with one of Meta's networks in view, and a site of which it may fetch pictures. */
export async function metaStage(name: MetaName, authorize: string, start = '2026-03-01T12:00:00.000Z'): Promise<MetaStage> {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
  const clock = createBoundClock(new Date(start))
  const posted: { path: string; body: string }[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const path = request.url ?? '/'
    if (request.method === 'POST') {
      const parts: Buffer[] = []
      request
        .on('data', part => parts.push(part))
        .on('end', () => {
          posted.push({ path, body: Buffer.concat(parts).toString() })
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"heard":true}')
        })
      return
    }
    const file = (files as Readonly<Record<string, Buffer>>)[path.slice(1)]
    response.writeHead(file ? 200 : 404).end(file ?? 'not there')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const redirectUri = `${site}/publishing/api/integrations/${name}/callback`
  const sandbox = await startSandbox({ folder, port: 0, clock, redirectUris: [redirectUri] })
  const base = `${sandbox.origin}/${name}`
  const control = (what: string, body: object) =>
    send(`${sandbox.origin}/_control/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ network: name, ...body }),
    })
  return {
    sandbox,
    clock,
    site,
    posted,
    redirectUri,
    get: (path, parameters = {}) => send(`${base}${path}?${new URLSearchParams(parameters)}`),
    post: (path, parameters = {}, method = 'POST') => send(`${base}${path}`, { method, body: new URLSearchParams(parameters) }),
    async consent(scope, more = {}) {
      const asked = {
        client_id: sandbox.demo[name as 'threads'].clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope,
        state: 's',
        sandbox_approve: '1',
        ...more,
      }
      const answer = await send(`${base}${authorize}?${new URLSearchParams(asked)}`)
      if (answer.status !== 302) throw new Error(`${answer.status} ${answer.body}`)
      return new URL(answer.headers.get('location')!)
    },
    arm: fault => control('faults', fault),
    emit: what => control('emit', what),
    received: async () => (await send(`${sandbox.origin}/_control/received?network=${name}`)).body,
    async [Symbol.asyncDispose]() {
      await sandbox.stop()
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
